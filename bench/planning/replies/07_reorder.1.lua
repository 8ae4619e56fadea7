function run(context)
  local rows = must(query_db{database = "shop", table = "products", where = "active AND stock < reorder_at", columns = {"sku"}}, "the products could not be read")
  context.answer = list.sort(list.pluck(rows, "sku"))
  return context
end
