-- Writes the sales report of the last full month, in Markdown, and mails it as HTML if asked to.
-- Context: today ("2026-03-05"); mail_to (optional address).
-- Tools: query_db (table orders), transform_data, send_email (only with mail_to).
-- Leaves: month, figures, report (Markdown).
function run(context)
  local this_month = date.start_of(context.today, "month")
  local from = date.add(this_month, -1, "month")
  local orders = query_db {
    table = "orders",
    where = "ordered_on >= ? AND ordered_on < ?",
    params = { from, this_month },
    columns = { "region", "amount" },
  }
  if orders.error then
    error("the orders cannot be read: " .. orders.error)
  end

  local regions = {}
  for region, sales in pairs(list.group_by(orders, "region", "(no region)")) do
    local revenue = math.round(stats.sum(sales, "amount"), 2)
    table.insert(regions, { region = region, orders = #sales, revenue = revenue })
  end
  regions = list.sort_by(regions, "revenue", "desc")

  local figures = {
    orders = #orders,
    revenue = math.round(stats.sum(orders, "amount"), 2),
    median = stats.median(orders, "amount") or 0,
    p90 = math.round(stats.percentile(orders, 90, "amount") or 0, 2),
  }
  local title = "Sales, " .. date.format(from, "%B %Y")
  local facts = string.format("%d orders, revenue %s, median order %s, 90%% below %s",
    figures.orders, text.number(figures.revenue, 2), text.number(figures.median, 2), text.number(figures.p90, 2))
  local markdown = transform_data { input = regions, format = "markdown" }
  local html = transform_data { input = regions, format = "html" }
  if type(markdown) ~= "string" or type(html) ~= "string" then
    error("the table cannot be written")
  end

  context.month, context.figures = string.sub(from, 1, 7), figures
  context.report = "# " .. title .. "\n\n" .. facts .. "\n\n" .. markdown
  if context.mail_to then
    local sent = send_email(context.mail_to, title, "<p>" .. text.escape_html(facts) .. "</p>" .. html)
    if sent.error then
      error("the report cannot be sent: " .. sent.error)
    end
  end
  return context
end
