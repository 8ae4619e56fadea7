function run(context)
  local total = 0
  for _, number in ipairs({3, 14, 15, 92, 65, 35, 89, 79}) do
    if total == 0 then
      total = number
    else
      local sum = everything.get_sum{a = total, b = number}
      if type(sum) ~= "string" then error(sum.error) end
      total = math.tointeger(tonumber(sum:match("is (%d+)%.")))
    end
  end
  return {total = total}
end
