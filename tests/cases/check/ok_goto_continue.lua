function run(context)
  local total = 0
  for _, row in ipairs(context.rows) do
    if row.skip then goto continue end
    local amount = tonumber(row.amount) or 0
    total = total + amount
    ::continue::
  end
  context.total = total
  return context
end
