local function depth(node)
  local most = 0
  for _, child in ipairs(node.children or {}) do
    most = math.max(most, depth(child))
  end
  return most + 1
end

local is_even, is_odd
function is_even(n) if n == 0 then return true else return is_odd(n - 1) end end
function is_odd(n) if n == 0 then return false else return is_even(n - 1) end end

function run(context)
  context.depth, context.even = depth(context.tree or {}), is_even(10)
  return context
end
