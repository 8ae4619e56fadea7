function run(context)
  local function rows(name)
    return retry(3, function()
      return query_db{table = name, limit = 500}
    end)
  end

  local results = parallel{
    function() return rows("orders") end,
    function() return rows("refunds") end,
  }
  local orders, refunds = results[1], results[2]
  if orders.error or refunds.error then
    return {ok = false, reason = orders.error or refunds.error}
  end

  local total = 0
  for _, order in ipairs(orders) do
    total = total + (tonumber(order.amount) or 0)
  end
  return {ok = true, total = total, refunds = #refunds}
end
