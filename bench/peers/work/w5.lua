function run(context)
  assert(context.orders[2000].items[6].quantity == 6)
  return context
end
