--# a name that no step has
function run(context)
  local users = step("load users", function() return query_db{ table = "users" } end)
  local sum = step("count", function() return #users end, { depends_on = { "load user" } }) --! plan_bad_step
  if sum.error then return {error = sum.error} end
  return {n = sum}
end

--# a step that is declared after the one that depends on it
function run(context)
  local sum = step("count", function() return 1 end, { depends_on = "load users" }) --! plan_bad_step
  local users = step("load users", function() return query_db{ table = "users" } end)
  return {n = sum, users = users}
end

--# two steps that depend on each other
function run(context)
  local one = step("one", function() return 1 end, { depends_on = { "two" } }) --! plan_bad_step
  local two = step("two", function() return 2 end, { depends_on = { "one" } })
  return {one, two}
end

--# a name that is used again
function run(context)
  local one = step("load", function() return 1 end)
  local two = step("load", function() return 2 end) --! plan_bad_step
  return {one, two}
end

--# a call in place of a function
function run(context)
  local users = step("load", query_db{ table = "users" }) --! plan_bad_step
  return {n = #users}
end
