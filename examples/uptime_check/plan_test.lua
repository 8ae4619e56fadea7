local UP, DOWN = "https://up.example/", "https://down.example/"

test("no mail while every site answers", function()
  mock("fetch_url", { returns = { [UP] = { status = 200, body = "" } } })
  local run = run_plan({ urls = { UP, UP }, alert_to = "ops@example.com" })
  expect.succeeded(run)
  expect.equal(run.result.up, 1)
  expect.equal(run.result.down, {})
  expect.falsy(run.result.alerted)
  expect.not_called(run, "send_email")
end)

test("one mail names every site that is down", function()
  mock("fetch_url", {
    when = { detail = true },
    returns = {
      [UP] = { status = 200, body = "" },
      [DOWN] = failure("http_status", { message = "status 503", status = 503 }),
      ["https://gone.example/"] = failure("fetch_failed", { message = "no such host" }),
    },
  })
  mock("send_email", { returns = { delivered = true } })
  local run = run_plan({ urls = { UP, DOWN, "https://gone.example/" }, alert_to = "ops@example.com" })
  expect.succeeded(run)
  expect.equal(run.result.down, {
    { url = DOWN, code = "http_status", status = 503, reason = "status 503" },
    { url = "https://gone.example/", code = "fetch_failed", reason = "no such host" },
  })
  expect.truthy(run.result.alerted)
  expect.called(run, "send_email", { times = 1, with = { to = "ops@example.com", subject = "2 of 3 sites are down" } })
  expect.contains(calls(run, "send_email")[1].arguments.body, "- https://down.example/: status 503")
end)

test("an alert that cannot be sent fails the run", function()
  mock("fetch_url", { returns = { [DOWN] = failure("tool_timeout") } })
  mock("send_email", { fails = { code = "smtp_failed", message = "421 busy" } })
  expect.failed(run_plan({ urls = { DOWN }, alert_to = "ops@example.com" }), "plan_error", "421 busy")
end)

test("a fetch that fails as a whole is not taken for good news", function()
  mock("fetch_url", { fails = "rate_limited" })
  expect.failed(run_plan({ urls = { UP }, alert_to = "ops@example.com" }), "tool_error_used")
end)

test("sites that never answer end at the time limit", function()
  mock("fetch_url", { returns = {}, delay_ms = 30000 })
  local run = run_plan({ urls = { UP }, alert_to = "ops@example.com" }, { limits = { wall = "100ms" } })
  expect.failed(run, "limit_wall")
  expect.equal(calls(run, "fetch_url")[1].code, "call_cut")
end)

test("without sites there is nothing to do", function()
  local run = run_plan({})
  expect.succeeded(run)
  expect.calls(run, {})
end)
