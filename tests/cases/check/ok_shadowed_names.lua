local function fetch(os, send_email)
  return os.time, send_email("anything", {}, 1, 2, 3, 4, 5)
end

function run(context)
  local io = { write = function(...) return ... end }
  io.write("x")
  for query_db = 1, 3 do print(query_db) end
  for _, load in ipairs({ print }) do load("x") end
  local require <const> = function(name) return name end
  context.name = require("thing")
  context.fetch = fetch({ time = 1 }, function(...) return select("#", ...) end)
  return context
end
