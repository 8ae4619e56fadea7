-- Names that are made, branches that exclude each other, a loop with names of its own, a local function that is called `step`.
local function count(rows)
  return #rows
end

function run(context)
  local users = step("users", function() return query_db{ table = "users" } end, { retries = 3 })
  if context.short then
    step("list", function() return count(users) end, { depends_on = "users" })
  else
    step("list", function() return users end, { depends_on = { "users" } })
  end
  for i = 1, 3 do
    context[i] = step("part " .. i, function() return i end, { depends_on = { "list", context.other } })
  end
  local last = step("last", query_db, { depends_on = { "part 3" } })
  if last.error then
    return nil
  end
  do
    local step = function(name) return name end
    step("users")
    step("users")
  end
  return context
end
