--! expect: plan_syntax 4:24 `limit` is constant and cannot be assigned
function run(context)
  local limit <const> = 3
  local f = function() limit = 4 end
  f()
  return context
end
