-- A table that is its own metatable with every event.
-- expect: plan_error
-- expect: limit_depth|limit_instructions|limit_memory
-- expect on piccolo: engine_unsupported
function run()
  local t = {}
  for _, e in ipairs({ "index", "newindex", "call", "len", "concat", "eq", "lt", "tostring", "pairs", "close" }) do t["__" .. e] = t end
  setmetatable(t, t)
  pcall(tostring, t)
  pcall(function() for k in pairs(t) do end end)
  pcall(function() local x <close> = t end)
  pcall(function() return #t end)
  return t.x
end
