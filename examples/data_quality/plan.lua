-- Measures the quality of the customer data: missing values, duplicates, orders without a customer.
-- Context: missing_percent_max (optional, 5).
-- Tools: query_db (tables customers, orders), three queries side by side.
-- Leaves: quality (the figures), problems (list of sentences), ok.
local function percent(part, whole)
  return whole == 0 and 0.0 or math.round(100 * part / whole, 1)
end

function run(context)
  local answers = parallel {
    counts = function()
      return query_db { sql = "SELECT count(*) AS customers, count(email) AS with_email, count(city) AS with_city FROM customers" }
    end,
    doubles = function()
      return query_db {
        sql = "SELECT lower(email) AS email, count(*) AS copies FROM customers WHERE email IS NOT NULL "
          .. "GROUP BY lower(email) HAVING count(*) > 1 ORDER BY 1",
      }
    end,
    orphans = function()
      return query_db {
        sql = "SELECT count(*) AS orders FROM orders o LEFT JOIN customers c ON c.id = o.customer_id WHERE c.id IS NULL",
      }
    end,
  }
  for name, answer in pairs(answers) do
    if answer.error then
      error("the query for " .. name .. " failed: " .. answer.error)
    end
  end

  local counts, doubles = answers.counts[1], answers.doubles
  local quality = {
    customers = counts.customers,
    email_missing_percent = percent(counts.customers - counts.with_email, counts.customers),
    city_missing_percent = percent(counts.customers - counts.with_city, counts.customers),
    duplicate_emails = list.pluck(doubles, "email"),
    orphan_orders = answers.orphans[1].orders,
  }

  local problems, most = list.empty(), context.missing_percent_max or 5
  for _, column in ipairs { "email", "city" } do
    local missing = quality[column .. "_missing_percent"]
    if missing > most then
      table.insert(problems, column .. " is missing in " .. missing .. "% of the customers")
    end
  end
  if #doubles > 0 then
    table.insert(problems, #doubles .. " addresses are used by several customers")
  end
  if quality.orphan_orders > 0 then
    table.insert(problems, quality.orphan_orders .. " orders have no customer")
  end
  context.quality, context.problems, context.ok = quality, problems, #problems == 0
  return context
end
