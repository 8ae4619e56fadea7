local ORDERS = {
  { region = "north", amount = 100 },
  { region = "south", amount = 250.5 },
  { region = "north", amount = 50 },
  { amount = 10 },
}

test("reports the last full month by region, best first", function()
  mock("query_db", { returns = ORDERS })
  mock("transform_data", { when = { format = "markdown" }, returns = "| region |\n" })
  mock("transform_data", { when = { format = "html" }, returns = "<table></table>" })
  local run = run_plan({ today = "2026-03-05" })
  expect.succeeded(run)
  expect.equal(run.result.month, "2026-02")
  expect.equal(run.result.figures, { orders = 4, revenue = 410.5, median = 75, p90 = 205.35 })
  expect.contains(run.result.report, "# Sales, February 2026")
  expect.contains(run.result.report, "4 orders, revenue 410.50")
  expect.called(run, "query_db", { with = { params = { "2026-02-01", "2026-03-01" } } })
  local regions = calls(run, "transform_data")[1].arguments.input
  expect.equal(list.pluck(regions, "region"), { "south", "north", "(no region)" })
  expect.not_called(run, "send_email")
end)

test("mails the report where an address is given", function()
  mock("query_db", { returns = ORDERS })
  mock("transform_data", { returns = "<table></table>" })
  mock("send_email", { returns = { delivered = true } })
  local run = run_plan({ today = "2026-01-31", mail_to = "sales@example.com" })
  expect.succeeded(run)
  expect.called(run, "send_email", { times = 1, with = { to = "sales@example.com", subject = "Sales, December 2025" } })
end)

test("a month without orders has a report of zeros", function()
  mock("query_db", { returns = {} })
  mock("transform_data", { returns = "" })
  local run = run_plan({ today = "2026-03-05" })
  expect.succeeded(run)
  expect.equal(run.result.figures, { orders = 0, revenue = 0, median = 0, p90 = 0 })
end)

test("a failed query, table or mail is not passed over", function()
  mock_defaults()
  mock("query_db", { fails = "query_failed" })
  expect.failed(run_plan({ today = "2026-03-05" }), "plan_error", "the orders cannot be read")
  mock("query_db", { returns = ORDERS })
  mock("send_email", { fails = { code = "smtp_failed", message = "550 no" } })
  expect.failed(run_plan({ today = "2026-03-05", mail_to = "x@example.com" }), "plan_error", "550 no")
  mock("transform_data", { fails = "template_failed" })
  expect.failed(run_plan({ today = "2026-03-05" }), "plan_error", "the table cannot be written")
end)
