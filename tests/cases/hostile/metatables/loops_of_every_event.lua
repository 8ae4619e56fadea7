-- Each event's handler loops; each is called once and caught.
-- expect: limit_instructions
function run()
  local mt = {}
  for _, e in ipairs({ "index", "newindex", "call", "len", "unm", "bnot", "concat", "eq", "lt", "le", "add", "sub", "mul", "div", "idiv", "mod", "pow", "band", "bor", "bxor", "shl", "shr", "tostring", "pairs", "close", "name" }) do
    mt["__" .. e] = function() while true do end end
  end
  local t, u = setmetatable({}, mt), setmetatable({}, mt)
  for _, f in ipairs({ function() return t.x end, function() t.x = 1 end, function() return t() end, function() return #t end, function() return t == u end }) do pcall(f) end
  return "ok"
end
