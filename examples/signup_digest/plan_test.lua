test("counts by ISO week, with the weeks without any", function()
  mock("query_db", { returns = {
    { signed_up_on = "2026-03-02" }, { signed_up_on = "2026-03-08 23:59:59" }, { signed_up_on = "2026-03-23" },
  } })
  mock("transform_data", { returns = "<table></table>" })
  mock("send_email", { returns = { delivered = true } })
  local run = run_plan({ today = "2026-03-31", mail_to = "team@example.com" })
  expect.succeeded(run)
  expect.equal(run.result.weeks_counted, {
    { week = "2026-W10", signups = 2, change = "" },
    { week = "2026-W11", signups = 0, change = "-2" },
    { week = "2026-W12", signups = 0, change = "+0" },
    { week = "2026-W13", signups = 1, change = "+1" },
  })
  expect.called(run, "query_db", { with = { params = { "2026-03-02", "2026-03-30" } } })
  expect.called(run, "send_email", { with = { subject = "3 sign-ups in 4 weeks", html = true } })
end)

test("weeks are named by their own year at the turn of the year", function()
  mock("query_db", { returns = {} })
  mock_defaults()
  local run = run_plan({ today = "2027-01-06", mail_to = "team@example.com", weeks = 2 })
  expect.succeeded(run)
  expect.equal(list.pluck(run.result.weeks_counted, "week"), { "2026-W52", "2026-W53" })
end)

test("each tool that fails stops the plan with its reason", function()
  local reasons = {
    query_db = "the sign-ups cannot be read",
    transform_data = "the digest cannot be written",
    send_email = "the digest cannot be sent",
  }
  for tool, reason in pairs(reasons) do
    clear_mocks()
    mock_defaults()
    mock("query_db", { returns = {} })
    mock(tool, { fails = { code = "tool_failed", message = "broken" } })
    local run = run_plan({ today = "2026-03-31", mail_to = "team@example.com" })
    expect.failed(run, "plan_error", reason .. ": broken")
  end
end)
