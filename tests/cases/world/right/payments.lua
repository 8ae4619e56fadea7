--- paid_by_method
function run(context)
  local rows = query_db{sql = "SELECT method, sum(amount_cents) AS cents FROM payments GROUP BY method"}
  if rows.error then error(rows.error) end
  local euros = json.object()
  for _, row in ipairs(rows) do
    euros[row.method] = math.round(row.cents / 100, 2)
  end
  context.answer = euros
  return context
end
--- underpaid_orders
function run(context)
  local rows = must(query_db{sql = [[
    WITH due AS (
      SELECT o.id, round(sum(i.quantity * i.unit_price * (100 - i.discount_percent)) + o.shipping * 100)::integer AS cents
      FROM orders o JOIN order_items i ON i.order_id = o.id
      WHERE o.status IN ('shipped', 'delivered')
      GROUP BY o.id
    ), paid AS (
      SELECT order_id, sum(amount_cents)::integer AS cents FROM payments GROUP BY order_id
    )
    SELECT due.id, due.cents - coalesce(paid.cents, 0) AS missing
    FROM due LEFT JOIN paid ON paid.order_id = due.id
    WHERE due.cents > coalesce(paid.cents, 0)
    ORDER BY due.id]]}, "the payments")
  context.orders = list.pluck(rows, "id")
  context.missing = list.sum_by(rows, "missing") / 100
  return context
end
--- unpaid_new_orders
function run(context)
  local rows = query_db{
    sql = "SELECT o.id, o.placed_at FROM orders o LEFT JOIN payments p ON p.order_id = o.id WHERE p.id IS NULL AND o.status = ?",
    params = {"new"},
  }
  if rows.error then error(rows.error) end
  context.count = #rows
  context.ids = list.sort(list.pluck(rows, "id"))
  return context
end
--- payments_per_day
-- context: {"month": "2026-05-01"}
function run(context)
  local first = date.start_of(context.month, "month")
  local rows = query_db{
    sql = "SELECT paid_at::date AS day, sum(amount_cents) / 100.0 AS euros FROM payments WHERE paid_at >= $1::date AND paid_at < $2::date GROUP BY day ORDER BY day",
    params = {first, date.add(first, 1, "month")},
  }
  if rows.error then error("payments: " .. rows.error) end
  local best
  for _, row in ipairs(rows) do
    if not best or row.euros > best.euros then
      best = row
    end
  end
  context.best_day = best and best.day
  return context
end
--- voucher_share
function run(context)
  local sql = [[SELECT sum(amount_cents) FILTER (WHERE method = 'voucher') AS vouchers, sum(amount_cents) AS total FROM payments]]
  local rows = must(query_db{sql = sql}, "the vouchers")
  local sums = rows[1]
  if not sums or not sums.total then
    return {percent = 0}
  end
  return {percent = math.round((sums.vouchers or 0) * 100 / sums.total, 1)}
end
--- hours_until_paid
function run(context)
  local rows = query_db{
    sql = "SELECT avg(p.paid_at - o.placed_at) AS wait, max(p.paid_at - o.placed_at) AS longest FROM payments p JOIN orders o ON o.id = p.order_id",
    intervals = "seconds",
  }
  if rows.error then error(rows.error) end
  local row = rows[1] or {}
  context.hours = math.round((row.wait or 0) / 3600, 1)
  context.longest = math.round((row.longest or 0) / 3600, 1)
  return context
end
--- transfers_above
-- context: {"euros": 200}
function run(context)
  local cents = math.round(context.euros * 100)
  local rows = query_db{
    table = "payments",
    where = "method = :method AND amount_cents > :cents",
    params = {method = "transfer", cents = cents},
    columns = {"id", "order_id", "amount_cents"},
    order_by = "amount_cents DESC, id",
  }
  if rows.error then error(rows.error) end
  local out = {}
  for _, row in ipairs(rows) do
    out[#out + 1] = "order " .. row.order_id .. ": " .. text.number(row.amount_cents / 100, 2)
  end
  context.answer = out
  return context
end
--- method_by_country
function run(context)
  local rows = must(query_db{sql = [[
    SELECT c.country, p.method, count(*)::int AS n
    FROM payments p
    JOIN orders o ON o.id = p.order_id
    JOIN customers c ON c.id = o.customer_id
    GROUP BY ROLLUP (c.country, p.method)
    ORDER BY c.country NULLS LAST, p.method NULLS LAST]]}, "methods")
  local totals = {}
  for _, row in ipairs(rows) do
    if row.country and not row.method then
      totals[row.country] = row.n
    end
  end
  context.totals = totals
  return context
end
--- doubled_payments
function run(context)
  local rows = query_db{sql = "SELECT order_id, count(*) AS times FROM payments GROUP BY order_id HAVING count(*) > 1 ORDER BY order_id"}
  if rows.error then
    error("doubled payments: " .. rows.error)
  end
  context.doubled = list.any(rows, function(row) return row.times > 1 end)
  context.orders = list.pluck(rows, "order_id")
  return context
end
--- income_in_dollars
-- context: {"rate": 1.08}
function run(context)
  local rows = query_db{sql = "SELECT coalesce(sum(amount_cents), 0) AS cents FROM payments WHERE method <> 'voucher'"}
  if rows.error then error(rows.error) end
  local first = rows[1]
  local cents = first and first.cents or 0
  context.dollars = math.round(cents * context.rate / 100, 2)
  return context
end
--- cancelled_but_paid
function run(context)
  local rows = query_db{sql = "SELECT o.id, p.method FROM orders o JOIN payments p ON p.order_id = o.id WHERE o.status = 'cancelled'::order_status"}
  if rows.error then error(rows.error) end
  if #rows == 0 then
    context.answer = "none"
  else
    local parts = {}
    for _, row in ipairs(rows) do
      parts[#parts + 1] = row.id .. " by " .. row.method
    end
    context.answer = table.concat(parts, ", ")
  end
  return context
end
--- percentiles_of_payments
function run(context)
  local rows = must(query_db{sql = "SELECT amount_cents FROM payments ORDER BY id"}, "payments")
  local cents = list.pluck(rows, "amount_cents")
  if #cents == 0 then
    return {none = true}
  end
  return {
    p50 = math.round(stats.percentile(cents, 50) / 100, 2),
    p90 = math.round(stats.percentile(cents, 90) / 100, 2),
    spread = math.round(stats.stdev(cents) / 100, 2),
  }
end
--- cumulative_by_month
function run(context)
  local rows = query_db{sql = [[
    SELECT to_char(month, 'Mon YYYY') AS label, sum(cents) OVER (ORDER BY month ROWS UNBOUNDED PRECEDING) AS so_far
    FROM (SELECT date_trunc('month', paid_at) AS month, sum(amount_cents) AS cents FROM payments GROUP BY 1) AS m
    ORDER BY month]]}
  if rows.error then error(rows.error) end
  local lines = {}
  for i, row in ipairs(rows) do
    lines[i] = row.label .. " " .. text.number(row.so_far / 100, 2)
  end
  context.lines = lines
  return context
end
--- payments_of_customer
-- context: {"customer": 8}
function run(context)
  local payments = query_db{sql = "SELECT p.method, p.amount_cents AS cents FROM payments p WHERE p.order_id IN (SELECT id FROM orders WHERE customer_id = $1)", params = {context.customer}}
  if payments.error then error(payments.error) end
  local by_method = {}
  for _, payment in ipairs(payments) do
    by_method[payment.method] = (by_method[payment.method] or 0) + payment.cents
  end
  context.by_method = by_method
  return context
end
