--# no run at all
local function main(context) --! plan_no_run
  return context
end

--# run is local
local function run(context) --! plan_no_run
  return {}
end

--# run has another name
function execute(context) --! plan_no_run
  return {ok = true}
end

--# run is a table
run = {} --! plan_no_run

--# run is returned from the file
local function plan(context) --! plan_no_run
  return context
end
return {run = plan}

--# run in a table
local plan = {} --! plan_no_run
function plan.run(context)
  return context
end

--# an end is missing
function run(context)
  if context.a then
    return {a = 1}
  return {b = 2} --! plan_syntax
end

--# not equal of another language
function run(context)
  if context.a != 1 then return {} end --! plan_syntax
  return context
end

--# continue of another language
function run(context)
  for i = 1, 3 do
    if i == 2 then continue end --! plan_syntax
  end
  return context
end

--# plus equals
function run(context)
  local n = 0
  n += 1 --! plan_syntax
  return {n = n}
end

--# else if on one line
function run(context)
  if context.a then
    return 1
  else if context.b then --! plan_syntax
    return 2
  end
end

--# a bracket is not closed
function run(context)
  local rows = query_db{table = "users", where = "id = 1"
  return rows --! plan_syntax
end

--# a goto without its label
function run(context)
  for i = 1, 3 do
    if i == 2 then goto continue end --! plan_syntax
  end
  return context
end

--# a goto into the scope of a local
function run(context)
  for i = 1, 3 do
    if i == 2 then goto continue end --! plan_syntax
    local x = i
    ::continue::
    context.x = x
  end
  return context
end

--# a constant is assigned
function run(context)
  local limit <const> = 10
  limit = 20 --! plan_syntax
  return {limit = limit}
end

--# a break outside a loop
function run(context)
  if context.a then break end --! plan_syntax
  return context
end

--# varargs where there are none
function run(context)
  return {...} --! plan_syntax
end

--# code behind return
function run(context)
  return context
  context.done = true --! plan_syntax
end

--# an assignment as condition
function run(context)
  if context.a = 1 then return {} end --! plan_syntax
  return context
end

--# a string of another language
function run(context)
  local s = `hello` --! plan_syntax
  return {s = s}
end
