function run(context)
  local limit <const>, factor <const> = 10, 3
  local handle <close> = setmetatable({}, { __close = function() print("closed") end })
  context.product = limit * factor
  return context
end
