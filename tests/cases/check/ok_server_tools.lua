function run(context)
  local found = desk.search{ query = "printer", ["end"] = "2026-03-31" }
  local again = desk.search("printer")
  local search = desk.search
  context.ids = { search("x"), found, again }
  return context
end
