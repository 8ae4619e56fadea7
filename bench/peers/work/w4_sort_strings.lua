function run(context)
  local list, seed = {}, 1
  for i = 1, 100000 do
    seed = (seed * 1103515245 + 12345) % 2147483648
    list[i] = "k" .. seed
  end
  table.sort(list)
  return list[1] .. list[50000] .. list[100000]
end
