-- context: {"none": [], "nothing": {}}
-- result: [0, 0, 0, 0, 2, 0, 1, 0, 0, 3, 0]
-- Lists, empty tables and what the plan made itself are as in Lua.
function run(context)
  local function count(t)
    local n = 0
    for _ in ipairs(t) do n = n + 1 end
    return n
  end
  local filled = echo({ name = "x" })
  filled[1] = "y"
  local emptied = echo({ name = "x" })
  emptied.name = nil
  local own = setmetatable({ name = "x" }, { __index = function(_, place) if place <= 3 then return place end end })
  return {
    count(context.none), count(context.nothing), count(echo({})), count(echo(json.object())), count(echo({ 5, 6 })),
    count({ name = "x" }), count(filled), count(emptied), list.count({ name = "x" }), count(own),
    #table.concat({ name = "x" }),
  }
end
