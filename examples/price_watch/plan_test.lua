local LAMP = { name = "lamp", url = "https://shop.example/lamp.json", below = 20 }

local function watch(last_prices)
  return { products = { LAMP }, alert_to = "me@example.com", last_prices = last_prices }
end

test("mails a price that fell below its threshold, once", function()
  mock("fetch_url", { when = { urls = LAMP.url }, returns = '{"price": 19.5}' })
  mock("send_email", { returns = { delivered = true } })
  local first = run_plan(watch({ lamp = 25 }))
  expect.succeeded(first)
  expect.equal(first.result.alerts, { { name = "lamp", price = 19.5, before = 25 } })
  expect.called(first, "send_email", { times = 1, with = { body = "lamp: now 19.50" } })

  -- What the first run left is what a named context gives to the second.
  local second = run_plan(first.result)
  expect.succeeded(second)
  expect.equal(second.result.alerts, {})
  expect.not_called(second, "send_email")
end)

test("remembers a price that is not low enough", function()
  mock("fetch_url", { returns = '{"price": "20.00"}' })
  local run = run_plan(watch())
  expect.succeeded(run)
  expect.equal(run.result.last_prices, { lamp = 20.0 })
  expect.not_called(run, "send_email")
end)

test("tries again where the shop is slow", function()
  mock("fetch_url", { sequence = { { fails = "tool_timeout" }, { returns = '{"price": 30}' } } })
  local run = run_plan(watch())
  expect.succeeded(run)
  expect.called(run, "fetch_url", { times = 2 })
  expect.equal(run.result.last_prices.lamp, 30)
end)

test("what cannot be read keeps its last price and is listed", function()
  local readings = { "no JSON", '{"cost": 3}', "[1]", '{"price": "much"}' }
  for _, body in ipairs(readings) do
    mock("fetch_url", { returns = body })
    local run = run_plan(watch({ lamp = 25 }))
    expect.succeeded(run)
    expect.equal(run.result.unread[1].name, "lamp", body)
    expect.equal(run.result.last_prices.lamp, 25, body)
  end
  mock("fetch_url", { fails = { code = "http_status", message = "status 404", status = 404 } })
  local run = run_plan(watch({ lamp = 25 }))
  expect.equal(run.result.unread, { { name = "lamp", reason = "status 404" } })
  expect.called(run, "fetch_url", { times = 1 })
end)

test("an alert that cannot be sent fails the run", function()
  mock("fetch_url", { returns = '{"price": 1}' })
  mock("send_email", { fails = "smtp_failed" })
  expect.failed(run_plan(watch()), "plan_error", "the alert cannot be sent")
end)

test("without products there is nothing to do", function()
  local run = run_plan({})
  expect.succeeded(run)
  expect.calls(run, {})
end)
