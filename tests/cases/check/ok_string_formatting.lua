function run(context)
  local out = string.format("%-10s|%5.2f|%03d|%q|%%", "a", 1.5, 7, "x\ny")
  local bytes = string.char(72, 105) .. "\x41\65\u{20AC}\z
    joined"
  for word, n in out:gmatch("(%a+)(%d*)") do print(word, n) end
  context.out = out .. bytes .. utf8.char(8364) .. #utf8.charpattern
  return context
end
