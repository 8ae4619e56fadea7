function run(context)
  local rows = must(query_db{database = "shop", table = "customers", where = "country = ? AND newsletter", params = {"FR"}, columns = {"email"}}, "the customers could not be read")
  context.answer = list.sort(list.pluck(rows, "email"))
  return context
end
