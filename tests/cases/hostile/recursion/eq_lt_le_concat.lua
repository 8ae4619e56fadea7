-- Each comparison compares again.
-- expect: limit_depth|limit_instructions|plan_error
function run()
  local mt = {}
  mt.__eq = function(a, b) return a == b end
  mt.__lt = function(a, b) return a < b end
  mt.__le = function(a, b) return a <= b end
  mt.__concat = function(a, b) return a .. b end
  local a, b = setmetatable({}, mt), setmetatable({}, mt)
  local out = {}
  for i, f in ipairs({ function() return a == b end, function() return a < b end, function() return a <= b end }) do
    out[i] = pcall(f)
  end
  return a .. b
end
