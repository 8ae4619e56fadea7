-- The report of a shop over all of its orders, read page by page.
-- Tools: query_db (tables products, customers, orders).
-- Leaves nothing; returns the figures.

-- The most rows that one query may return where `rows_max` is not set.
local PAGE = 10000

local function cents(amount)
  return math.round(amount * 100)
end

-- What an order brings, in hundredths of a cent: a price in cents times a share in hundredths. As a whole number it
-- is exact, and so is every sum of such numbers. Fractions are not, and half a cent of them may round the wrong way.
local function revenue(order)
  return order.quantity * cents(order.unit_price) * (100 - math.round(order.discount * 100))
end

local function all(query)
  local rows = query_db(query)
  if rows.error then error("the shop cannot be read: " .. rows.error) end
  return rows
end

-- Adds the revenue of each group of a page to the sums of the pages before.
local function add(sums, orders, key)
  for name, group in pairs(list.group_by(orders, key, "(none)")) do
    sums[name] = (sums[name] or 0) + list.sum_by(group, revenue)
  end
end

-- Sums as amounts: rounded once, at the end.
local function amounts(sums)
  local rounded = {}
  for name, sum in pairs(sums) do rounded[name] = math.round(sum / 10000, 2) end
  return rounded
end

function run()
  local products = list.index_by(all { table = "products" }, "id")
  local customers = list.index_by(all { table = "customers" }, "id")
  local by_product, by_month, by_country = {}, {}, {}
  local prices, not_shipped, without_country, last = {}, 0, 0, 0
  repeat
    local page = all { table = "orders", where = "id > ?", params = { last }, order_by = "id", limit = PAGE }
    for _, order in ipairs(page) do
      last = order.id
      prices[#prices + 1] = cents(order.unit_price)
    end
    add(by_product, page, function(order) return products[order.product_id].name end)
    add(by_month, page, function(order) return date.format(order.ordered_on, "%Y-%m") end)
    add(by_country, page, function(order) return customers[order.customer_id].country end)
    not_shipped = not_shipped + list.count(page, function(order) return order.shipped_on == nil end)
    without_country = without_country
      + list.count(page, function(order) return customers[order.customer_id].country == nil end)
  until #page < PAGE

  local by_name = list.map(list.keys(by_product), function(name)
    return { name = name, revenue = by_product[name] }
  end)
  return {
    orders = #prices,
    by_product = amounts(by_product),
    by_month = amounts(by_month),
    by_country = amounts(by_country),
    -- Sorting is stable: those of equal revenue stay in the order of their names.
    best = list.pluck(list.take(list.sort_by(by_name, "revenue", "desc"), 10), "name"),
    mean_price = math.round(stats.mean(prices) / 100, 2),
    median_price = math.round(stats.median(prices) / 100, 2),
    not_shipped = not_shipped,
    without_country = without_country,
  }
end
