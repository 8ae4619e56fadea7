function run(context)
  local cities = {"Berlin", "Hamburg", "Lyon"}
  local rows = must(query_db{database = "shop", table = "customers", where = {city = cities}, columns = {"name", "city"}}, "the customers could not be read")
  local answer = json.object()
  for _, city in ipairs(cities) do
    answer[city] = list.sort(list.pluck(list.filter(rows, {city = city}), "name"))
  end
  context.answer = answer
  return context
end
