local INVOICES = {
  { email = "a@example.com", name = "Customer A", number = "R-1", due_on = "2026-03-01", amount = 1000 },
  { email = "b@example.com", name = "Customer B", number = "R-2", due_on = "2026-03-02", amount = 20.5 },
  { email = "a@example.com", name = "Customer A", number = "=R-3", due_on = "2026-03-03", amount = 250.25 },
}

test("reminds each customer once, with the invoices as CSV", function()
  mock("query_db", { returns = INVOICES })
  mock("send_email", { returns = { delivered = true } })
  local run = run_plan({ today = "2026-03-31" })
  expect.succeeded(run)
  expect.equal(run.result.reminded, { "a@example.com", "b@example.com" })
  expect.equal(run.result.failed, {})
  expect.equal(run.result.total_overdue, 1270.75)
  expect.called(run, "query_db", { times = 1, with = { params = { "2026-03-24" } } })
  expect.called(run, "send_email", { times = 2 })
  local mail = calls(run, "send_email", { to = "a@example.com" })[1].arguments
  expect.contains(mail.body, "2 of your invoices are overdue, 1,250.25 in sum")
  local rows = csv.parse(mail.attachments["invoices.csv"])
  expect.equal(rows[1], { number = "R-1", due_on = "2026-03-01", amount = "1000" })
  expect.equal(rows[2].number, "'=R-3", "a number that looks like a formula")
end)

test("one refused address does not keep the others from their reminder", function()
  mock("query_db", { returns = INVOICES })
  mock("send_email", { when = { to = "a@example.com" }, fails = { code = "recipient_denied", message = "not allowed" } })
  mock("send_email", { returns = { delivered = true } })
  local run = run_plan({ today = "2026-03-31" })
  expect.succeeded(run)
  expect.equal(run.result.reminded, { "b@example.com" })
  expect.equal(run.result.failed, { { email = "a@example.com", reason = "not allowed" } })
end)

test("nothing overdue, nothing sent", function()
  mock("query_db", { returns = {} })
  local run = run_plan({ today = "2026-03-31", grace_days = 30 })
  expect.succeeded(run)
  expect.equal(run.result.total_overdue, 0)
  expect.called(run, "query_db", { with = { params = { "2026-03-01" } } })
  expect.not_called(run, "send_email")
end)

test("a failed query stops the plan", function()
  mock("query_db", { fails = { code = "query_failed", message = "no such table: invoices" } })
  expect.failed(run_plan({ today = "2026-03-31" }), "plan_error", "no such table: invoices")
end)

test("a missing date is an error, not a reminder to everybody", function()
  expect.failed(run_plan({}), "plan_error", "date.add")
end)

-- Made by `luaplan test from-run` of a run on a real database and mail server, where one address was not allowed.
test("goes as the recorded run did", function()
  local run = run_fixture("plan.fixture.json")
  expect.as_recorded(run)
  expect.equal(run.result.failed[1].email, "b@example.com")
end)
