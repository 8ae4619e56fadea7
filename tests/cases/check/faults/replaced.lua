--# a tool assigned
query_db = nil --! plan_tool_replaced

function run(context)
  return context
end

--# a tool defined again
function query_db(request) --! plan_tool_replaced
  return {}
end

function run(context)
  return {n = #query_db{table = "users"}}
end

--# a mock left in the plan
function run(context)
  send_email = function(mail) return {delivered = true} end --! plan_tool_replaced
  local receipt = send_email{to = "ops@example.com", subject = "Hi", body = "x"}
  return {ok = receipt.delivered}
end

--# a tool wrapped under its own name
local plain = fetch_url
function fetch_url(url) --! plan_tool_replaced
  return plain(url)
end

function run(context)
  return {page = fetch_url("https://example.com")}
end

--# the result under the name of the tool
function run(context)
  call_llm = call_llm("Say hello") --! plan_tool_replaced
  return {said = call_llm}
end

--# a group of tools assigned
crm = {} --! plan_tool_replaced

function run(context)
  return context
end

--# a tool of a group defined again
function crm.find_customer(request) --! plan_tool_replaced
  return {id = request.id}
end

function run(context)
  return crm.find_customer{id = 1}
end

--# a tool assigned through _G
function run(context)
  _G.query_db = function() return {} end --! plan_tool_replaced
  return context
end

--# one of two variables
function run(context)
  local rows
  rows, query_db = {}, {} --! plan_tool_replaced
  return {n = #rows}
end

--# a local environment
function run(context)
  local _ENV = {print = print} --! plan_forbidden_global
  print("x")
  return context
end

--# another environment assigned
_ENV = {run = function(context) return context end} --! plan_forbidden_global plan_no_run

--# an environment as a parameter
local function within(_ENV) --! plan_forbidden_global
  return name
end

function run(context)
  return within({name = "x"})
end

--# an environment in a loop
function run(context)
  local names = {}
  for _, _ENV in ipairs({{name = "a"}, {name = "b"}}) do --! plan_forbidden_global
    names[#names + 1] = name
  end
  return names
end

--# a constant environment
local setmetatable, print = setmetatable, print
local _ENV <const> = setmetatable({}, {__index = function() return print end}) --! plan_forbidden_global

function run(context)
  return context
end
