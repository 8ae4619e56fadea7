-- Lists what has to be ordered again: items of which fewer than `context.below` pieces are left.
-- The tool stock_levels is made by a manifest, luaplan-tools/stock_levels.toml.
function run(context)
  local items = stock_levels{below = context.below or 10}
  if items.error then
    return {orders = {}, reason = items.error}
  end
  local orders = {}
  for _, item in ipairs(items) do
    table.insert(orders, {item = item.item, pieces = (context.wanted or 50) - item.left})
  end
  return {orders = orders}
end
