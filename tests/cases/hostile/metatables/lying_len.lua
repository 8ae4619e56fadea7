-- `__len` that is negative, fractional, text, huge, a table.
-- expect: result: "ended"
-- expect on piccolo: limit_instructions
function run()
  for _, n in ipairs({ -1, 0.5, "5", "x", math.mininteger, {}, true, 0 / 0 }) do
    local t = setmetatable({}, { __len = function() return n end })
    pcall(table.insert, t, 1)
    pcall(table.remove, t)
    pcall(table.concat, t)
    pcall(table.unpack, t)
    pcall(table.sort, t)
    pcall(ipairs, t)
    pcall(list.map, t, type)
    pcall(stats.sum, t)
    pcall(text.join, t)
    pcall(json.encode, t)
    pcall(csv.encode, t)
  end
  return "ended"
end
