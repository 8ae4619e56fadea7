-- Watches prices behind JSON interfaces and mails what fell below its threshold since the last look.
-- Context: products (list of name, url, below), alert_to; last_prices is kept from run to run, so run
-- it with a named context: luaplan run plan.lua --context-name prices
-- Tools: fetch_url, send_email (only where a price fell).
-- Leaves: last_prices (by product name), alerts, unread (name and reason).
local function price_in(body)
  local ok, document = pcall(json.decode, body)
  if not ok or type(document) ~= "table" then
    return nil, "the answer is not a JSON object"
  end
  local price = tonumber(document.price)
  return price, price == nil and "the answer has no price" or nil
end

function run(context)
  local last = context.last_prices or json.object()
  local alerts, unread = list.empty(), list.empty()
  for _, product in ipairs(context.products or {}) do
    local body = retry(3, fetch_url, product.url)
    local price, reason
    if type(body) == "string" then
      price, reason = price_in(body)
    else
      reason = body.error
    end
    if price then
      local before = last[product.name]
      local is_news = before == nil or before >= product.below
      if price < product.below and is_news then
        table.insert(alerts, { name = product.name, price = price, before = before })
      end
      last[product.name] = price
    else
      table.insert(unread, { name = product.name, reason = reason })
    end
  end

  if #alerts > 0 then
    local lines = list.map(alerts, function(alert)
      return alert.name .. ": now " .. text.number(alert.price, 2)
    end)
    local sent = send_email(context.alert_to, "Prices fell", text.join(lines, "\n"))
    if sent.error then
      error("the alert cannot be sent: " .. sent.error)
    end
  end
  context.last_prices, context.alerts, context.unread = last, alerts, unread
  return context
end
