function run(context)
  local folder = "FOLDER"
  local orders = files.read_text_file{path = folder .. "/orders.csv"}
  if orders.error then error(orders.error) end
  local sums, names = {}, {}
  for customer, amount in orders.content:gmatch("\n%d+,(%a+),(%d+)") do
    if not sums[customer] then
      sums[customer] = 0
      names[#names + 1] = customer
    end
    sums[customer] = sums[customer] + tonumber(amount)
  end
  table.sort(names, function(a, b) return sums[a] > sums[b] end)
  local lines = {"| customer | sum |", "|---|---|"}
  for _, name in ipairs(names) do lines[#lines + 1] = "| " .. name .. " | " .. sums[name] .. " |" end
  local wrote = files.write_file{path = folder .. "/totals.md", content = table.concat(lines, "\n") .. "\n"}
  if wrote.error then error(wrote.error) end
  return {customer = names[1], sum = sums[names[1]]}
end
