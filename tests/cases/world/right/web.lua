--- csv_sum_by_region
function run(context)
  local body = fetch_url("https://files.shop.example/sales.csv")
  if type(body) ~= "string" then
    error("the file could not be fetched: " .. body.error)
  end
  local sums = {}
  for _, row in ipairs(csv.parse(body)) do
    sums[row.region] = (sums[row.region] or 0) + math.round(tonumber(row.amount) * 100)
  end
  for region, cents in pairs(sums) do
    sums[region] = cents / 100
  end
  context.answer = sums
  return context
end
--- stock_differs_from_count
function run(context)
  local body = must(fetch_url{urls = "https://files.shop.example/count.csv"}, "the count")
  local counted = csv.parse(body, {separator = ";", numbers = true})
  local products = must(query_db{table = "products", columns = {"sku", "stock"}}, "the products")
  local stock = list.index_by(products, "sku")
  local differ = list.empty()
  for _, row in ipairs(counted) do
    local product = stock[row.sku]
    if product and product.stock ~= row.counted then
      table.insert(differ, {sku = row.sku, counted = row.counted, stock = product.stock})
    end
  end
  context.differ = differ
  return context
end
--- exchange_rates
function run(context)
  local body = retry(3, function()
    return fetch_url("https://daily.rates.example/eur.json")
  end)
  if type(body) ~= "string" then
    error("no rates: " .. body.error)
  end
  local document = json.decode(body)
  local paid = must(query_db{sql = "SELECT sum(amount_cents) AS cents FROM payments"}, "payments")
  local cents = paid[1] and paid[1].cents or 0
  context.dollars = math.round(cents * document.rates.USD / 100, 2)
  context.date = document.date
  return context
end
--- status_of_sites
function run(context)
  local urls = {
    "https://status.shop.example/health",
    "https://api.shop.example:8443/suppliers",
    "https://files.shop.example/page.html",
  }
  local answers = fetch_url(urls, true)
  if answers.error then error(answers.error) end
  local down = list.empty()
  for _, url in ipairs(urls) do
    if type(answers[url]) ~= "string" then
      table.insert(down, url)
    end
  end
  context.down = down
  return context
end
--- health_version
function run(context)
  local page = fetch_url{urls = "https://status.shop.example/health", detail = true}
  if page.error then
    return {ok = false, why = page.error}
  end
  local health = json.decode(page.body)
  return {ok = page.status == 200 and health.ok, version = health.version}
end
--- title_of_page
function run(context)
  local html = must(fetch_url("https://files.shop.example/page.html"), "the page")
  local title = html:match("<title>(.-)</title>") or "untitled"
  local links = {}
  for href, label in html:gmatch('<a href="([^"]+)">(.-)</a>') do
    links[#links + 1] = {href = href, label = text.unescape_html(label)}
  end
  context.title = title
  context.links = links
  return context
end
--- errors_in_log
function run(context)
  local body = fetch_url{urls = "https://files.shop.example/log.txt", headers = {Accept = "text/plain"}}
  if type(body) ~= "string" then error(body.error) end
  local count = 0
  for _, line in ipairs(text.lines(body)) do
    if text.starts_with(line, "ERROR") then
      count = count + 1
    end
  end
  context.errors = count
  return context
end
--- slow_suppliers
-- context: {"days": 7}
function run(context)
  local body = must(fetch_url("https://api.shop.example:8443/suppliers"), "the suppliers")
  local slow = list.filter(json.decode(body), function(supplier) return supplier.lead_days > context.days end)
  local skus = {}
  for _, supplier in ipairs(slow) do
    skus = list.concat(skus, supplier.skus)
  end
  if #skus == 0 then
    return {names = {}, units = 0}
  end
  local rows = must(query_db{sql = "SELECT sum(stock) AS units FROM products WHERE sku IN (?)", params = {skus}}, "the stock")
  return {names = list.pluck(slow, "name"), units = rows[1] and rows[1].units or 0}
end
--- below_target
function run(context)
  local body = fetch_url("https://files.shop.example/targets.csv")
  if type(body) ~= "string" then error(body.error) end
  local revenue = query_db{sql = "SELECT c.country, sum(i.quantity * i.unit_price) AS amount FROM customers c JOIN orders o ON o.customer_id = c.id JOIN order_items i ON i.order_id = o.id GROUP BY c.country"}
  if revenue.error then error(revenue.error) end
  local by_country = list.index_by(revenue, "country")
  local below = list.empty()
  for _, row in ipairs(csv.parse(body, {numbers = true})) do
    local sold = by_country[row.country] and by_country[row.country].amount or 0
    if sold < row.target then
      table.insert(below, row.country)
    end
  end
  context.below = below
  return context
end
--- head_of_files
function run(context)
  local names = {"terms.txt", "guide.md", "logo.png"}
  local urls = list.map(names, function(name) return "https://files.shop.example/" .. name end)
  local answers = fetch_url{urls = urls, method = "HEAD", detail = true, batch = true}
  if answers.error then error(answers.error) end
  local there = {}
  for i, url in ipairs(urls) do
    local answer = answers[url]
    there[names[i]] = answer ~= nil and not answer.error
  end
  context.there = there
  return context
end
--- cheapest_carrier
function run(context)
  local base = "https://api.shop.example:8443"
  local body = must(fetch_url(base .. "/carriers.json"), "the carriers")
  local carriers = json.decode(body).carriers
  local best = list.sort_by(carriers, "price")[1]
  if best == nil then
    return {found = false}
  end
  return {found = true, code = best.code, price = best.price}
end
--- hottest_day
function run(context)
  local body = must(fetch_url{urls = "https://api.shop.example:8443/weather"}, "the weather")
  local best
  for _, station in ipairs(json.decode(body).stations) do
    for _, day in ipairs(station.days) do
      if day.max and (best == nil or day.max > best.max) then
        best = {city = station.city, day = day.day, max = day.max}
      end
    end
  end
  context.hottest = best
  return context
end
--- pages_of_suppliers
function run(context)
  local urls = {}
  for id = 1, 2 do
    urls[id] = "https://api.shop.example:8443/suppliers/" .. id
  end
  local bodies = fetch_url(urls, true)
  if bodies.error then error(bodies.error) end
  local names = {}
  for id, url in ipairs(urls) do
    local body = bodies[url]
    if type(body) == "string" then
      names[#names + 1] = id .. " " .. json.decode(body).name
    end
  end
  context.names = names
  return context
end
--- missing_page_is_fine
function run(context)
  local page = fetch_url("https://files.shop.example/page.html")
  if page.error then
    if page.code == "http_status" and page.status == 404 then
      return {found = false}
    end
    error("cannot decide: " .. page.error)
  end
  return {found = true, size = #page}
end
--- waits_for_deploy
function run(context)
  for attempt = 1, 5 do
    local page = fetch_url("https://status.shop.example/deploy")
    if type(page) == "string" and text.starts_with(page, "done") then
      return {done = true, attempts = attempt}
    end
    sleep(600)
  end
  return {done = false}
end
--- rates_from_csv
-- context: {"amount": 100, "currency": "PLN"}
function run(context)
  local body = fetch_url("https://daily.rates.example/eur.csv")
  if type(body) ~= "string" then
    return {error_text = "no rates"}
  end
  local row = list.find(csv.parse(body, {numbers = true}), {currency = context.currency})
  if not row then
    return {error_text = "no such currency"}
  end
  return {converted = math.round(context.amount * row.rate, 2)}
end
--- outline_of_guide
function run(context)
  local guide = must(fetch_url("https://files.shop.example/guide.md"), "the guide")
  local headings = {}
  for _, line in ipairs(text.lines(guide)) do
    local marks, title = line:match("^(#+)%s+(.+)$")
    if marks then
      table.insert(headings, {level = #marks, title = title})
    end
  end
  context.headings = headings
  return context
end
--- two_sources_at_once
function run(context)
  local both = parallel{
    function() return fetch_url("https://status.shop.example/") end,
    function() return query_db{sql = "SELECT count(*) AS n FROM orders WHERE status = 'new'"} end,
  }
  local page, rows = both[1], both[2]
  if type(page) ~= "string" then error(page.error) end
  if rows.error then error(rows.error) end
  context.page = text.trim(page)
  context.waiting = rows[1] and rows[1].n or 0
  return context
end
--- report_of_page_by_mail
function run(context)
  local log = fetch_url("https://files.shop.example/log.txt")
  if type(log) ~= "string" then error(log.error) end
  local bad = list.filter(text.lines(log), function(line) return text.contains(line, "ERROR") end)
  if #bad == 0 then
    return {mailed = false}
  end
  local receipt = send_email{to = "support@shop.example", subject = "Errors in the log", body = table.concat(bad, "\n")}
  if receipt.error then
    error("not mailed: " .. receipt.error)
  end
  return {mailed = true, lines = #bad}
end
--- url_from_parts
-- context: {"file": "sales.csv"}
local HOST = "https://files.shop.example"

local function address(file)
  return HOST .. "/" .. file
end

function run(context)
  local body = fetch_url(address(context.file))
  if type(body) ~= "string" then error(body.error) end
  context.lines = #text.lines(body)
  return context
end
