-- Each operator calls itself.
-- expect: limit_depth|limit_instructions|plan_error
function run()
  local mt = {}
  for _, e in ipairs({ "add", "sub", "mul", "div", "mod", "pow", "unm", "idiv", "band", "bor", "bxor", "shl", "shr", "bnot", "len" }) do
    mt["__" .. e] = function(a, b) return a + b end
  end
  local a = setmetatable({}, mt)
  for _, f in ipairs({ function() return -a end, function() return ~a end, function() return #a end, function() return a * a end }) do pcall(f) end
  return a + a
end
