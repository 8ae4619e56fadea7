-- Keys that are the names of metamethods, and of what the prelude uses.
-- expect: result: ["x",1]
function run()
  local t = json.decode('{"__index":"x","__gc":1,"__metatable":2,"__mode":"k","1":3}')
  return { t.__index, t.__gc }
end
