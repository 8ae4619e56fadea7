--- open_tickets_by_priority
function run(context)
  local rows = query_db{table = "tickets", where = "closed_on IS NULL", columns = {"id", "priority"}}
  if rows.error then error(rows.error) end
  local counts = {urgent = 0, high = 0, normal = 0, low = 0}
  local names = {"urgent", "high", "normal", "low"}
  for _, row in ipairs(rows) do
    local name = names[row.priority] or "low"
    counts[name] = counts[name] + 1
  end
  context.answer = counts
  return context
end
--- days_to_close
function run(context)
  local rows = must(query_db{sql = "SELECT priority, avg(closed_on - opened_on) AS days FROM tickets WHERE closed_on IS NOT NULL GROUP BY priority ORDER BY priority"}, "closed tickets")
  local out = {}
  for _, row in ipairs(rows) do
    out["priority " .. row.priority] = math.round(row.days, 1)
  end
  context.answer = out
  return context
end
--- oldest_open_ticket
-- context: {"today": "2026-10-01"}
function run(context)
  local rows = query_db{sql = "SELECT id, subject, opened_on FROM tickets WHERE closed_on IS NULL ORDER BY opened_on, id LIMIT 1"}
  if rows.error then error(rows.error) end
  local ticket = rows[1]
  if not ticket then
    return {none = true}
  end
  return {id = ticket.id, subject = ticket.subject, days = date.diff(ticket.opened_on, context.today)}
end
--- reasons_of_returns
function run(context)
  local rows = query_db{sql = "SELECT reason, sum(quantity) AS units FROM returns GROUP BY reason ORDER BY units DESC, reason"}
  if rows.error then
    error("returns: " .. rows.error)
  end
  context.answer = list.map(rows, function(row) return row.reason .. ": " .. row.units end)
  return context
end
--- returns_by_category
function run(context)
  local rows = must(query_db{
    database = "shop",
    sql = [[
      SELECT g.name AS category, count(*) AS times
      FROM returns r
      JOIN order_items i USING (order_id, line)
      JOIN products p ON p.id = i.product_id
      JOIN categories g ON g.id = p.category_id
      GROUP BY g.name
      ORDER BY times DESC, category]],
  }, "returns by category")
  local answer = json.object()
  for _, row in ipairs(rows) do answer[row.category] = row.times end
  context.answer = answer
  return context
end
--- subjects_with_word
-- context: {"word": "invoice"}
function run(context)
  local rows = query_db{table = "tickets", columns = {"id", "subject", "customer_id"}, order_by = "id"}
  if rows.error then error(rows.error) end
  local found = list.filter(rows, function(row)
    return text.contains(text.lower(row.subject), text.lower(context.word))
  end)
  context.ids = list.pluck(found, "id")
  context.customers = #list.unique(found, "customer_id")
  return context
end
--- customers_with_many_tickets
function run(context)
  local rows = query_db{sql = [[
    SELECT c.email, count(t.id) AS tickets, count(t.id) FILTER (WHERE t.closed_on IS NULL) AS open
    FROM customers c INNER JOIN tickets t ON t.customer_id = c.id
    GROUP BY c.email
    ORDER BY tickets DESC, open DESC, c.email
    LIMIT 3]]}
  if rows.error then error(rows.error) end
  local out = {}
  for _, row in ipairs(rows) do
    table.insert(out, {email = row.email, tickets = row.tickets, open = row.open})
  end
  context.answer = out
  return context
end
--- return_delay
function run(context)
  local rows = must(query_db{sql = [[
    SELECT r.reason, round(avg(r.returned_on - o.placed_at::date), 1) AS days
    FROM returns r JOIN orders o ON o.id = r.order_id
    GROUP BY r.reason]]}, "delays")
  local slowest = list.sort_by(rows, "days", "desc")[1]
  context.slowest = slowest and slowest.reason or "none"
  return context
end
--- tickets_by_month
function run(context)
  local rows = query_db{table = "tickets", columns = {"opened_on"}}
  if rows.error then error(rows.error) end
  local by_month = list.count_by(rows, function(row) return date.month_name(row.opened_on) end)
  context.by_month = by_month
  return context
end
--- ticket_and_last_order
function run(context)
  local rows = query_db{sql = [[
    SELECT t.id, t.subject, o.id AS order_id, o.status::text AS status
    FROM tickets t
    LEFT JOIN LATERAL (
      SELECT id, status FROM orders WHERE customer_id = t.customer_id AND placed_at::date <= t.opened_on
      ORDER BY placed_at DESC LIMIT 1
    ) o ON true
    WHERE t.closed_on IS NULL
    ORDER BY t.id]]}
  if rows.error then error(rows.error) end
  local lines = {}
  for _, row in ipairs(rows) do
    lines[#lines + 1] = "#" .. row.id .. " " .. row.subject .. " / " .. (row.order_id and "order " .. row.order_id .. " " .. row.status or "no order")
  end
  context.lines = lines
  return context
end
--- returned_value
function run(context)
  local rows = must(query_db{sql = "SELECT sum(r.quantity * i.unit_price * (1 - i.discount_percent / 100)) AS value, count(*) AS n FROM returns r JOIN order_items i ON i.order_id = r.order_id AND i.line = r.line"}, "the value")
  local row = rows[1] or {}
  context.value = math.round(row.value or 0, 2)
  context.returns = row.n or 0
  return context
end
--- label_tickets
function run(context)
  local tickets = must(query_db{table = "tickets", where = "closed_on IS NULL", columns = {"id", "subject"}, order_by = "id", limit = 3}, "open tickets")
  local labels = json.object()
  for _, ticket in ipairs(tickets) do
    local answer = call_llm{
      prompt = "Answer with one word, billing or other. The ticket: " .. ticket.subject,
      max_tokens = 5,
    }
    if type(answer) == "string" and text.trim(text.lower(answer)) == "billing" then
      labels["t" .. ticket.id] = "billing"
    else
      labels["t" .. ticket.id] = "other"
    end
  end
  context.labels = labels
  return context
end
--- summary_of_subjects
function run(context)
  local rows = query_db{sql = "SELECT subject, count(*) AS n FROM tickets GROUP BY subject ORDER BY n DESC"}
  if rows.error then error(rows.error) end
  local facts = {}
  for _, row in ipairs(rows) do
    facts[#facts + 1] = "- " .. row.subject .. ": " .. row.n
  end
  local answer = call_llm("Say in one sentence what customers ask most.\n" .. table.concat(facts, "\n"), 100)
  if type(answer) ~= "string" then
    return {sentence = "none", why = answer.error}
  end
  return {sentence = text.trim(answer)}
end
--- classified_as_json
-- context: {"ticket": "I was charged twice."}
function run(context)
  local answer = call_llm{
    prompt = 'Reply as {"label": "billing" or "other"}. Ticket: ' .. context.ticket,
    format = "json",
    max_tokens = 50,
  }
  if type(answer) ~= "string" then
    return {label = "other", reason = answer.error}
  end
  local decoded = json.decode(answer)
  return {label = decoded.label == "billing" and "billing" or "other"}
end
--- tickets_per_customer_segment
function run(context)
  local rows = query_db{sql = "SELECT c.segment, count(DISTINCT t.id)::float8 / count(DISTINCT c.id) AS per_head FROM customers c LEFT JOIN tickets t ON t.customer_id = c.id GROUP BY c.segment"}
  if rows.error then error(rows.error) end
  for _, row in ipairs(rows) do
    context[row.segment] = math.round(row.per_head, 2)
  end
  return context
end
