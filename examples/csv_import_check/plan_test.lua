local URL = "https://files.example/import.csv"

test("a clean file is ready", function()
  mock("fetch_url", { returns = "email,date,amount\na@example.com,2026-03-01,10\nb@example.com,2026-03-02,0.5\n" })
  local run = run_plan({ url = URL })
  expect.succeeded(run)
  expect.equal(run.result.good, 2)
  expect.truthy(run.result.ready)
  expect.called(run, "fetch_url", { times = 1, with = { urls = URL } })
end)

test("every problem of a row is named", function()
  mock("fetch_url", { returns = text.join({
    "email;date;amount", "a@example.com;2026-02-30;x", "A@example.com;2026-03-01;1", ";;-1",
  }, "\n") })
  local run = run_plan({ url = URL, separator = ";" })
  expect.succeeded(run)
  expect.equal(run.result.bad, {
    { row = 1, problems = { "date is not a date", "amount is not a number of at least 0" } },
    { row = 2, problems = { "email is also in row 1" } },
    { row = 3, problems = { "email is not an address", "date is not a date", "amount is not a number of at least 0" } },
  })
  expect.falsy(run.result.ready)
end)

test("a passing failure is tried again, a lasting one is not", function()
  mock("fetch_url", { sequence = { { fails = "fetch_failed" }, { returns = "email,date,amount\n" } } })
  local run = run_plan({ url = URL })
  expect.succeeded(run)
  expect.called(run, "fetch_url", { times = 2 })
  expect.falsy(run.result.ready, "an empty file")
  mock("fetch_url", { fails = { code = "http_status", message = "status 404", status = 404 } })
  local lasting = run_plan({ url = URL })
  expect.failed(lasting, "plan_error", "the file cannot be fetched: status 404")
  expect.called(lasting, "fetch_url", { times = 1 })
end)

test("what is not the expected table is refused", function()
  mock("fetch_url", { returns = "email,date\na@example.com,2026-03-01\n" })
  expect.failed(run_plan({ url = URL }), "plan_error", "the file has no column amount")
  mock("fetch_url", { returns = "email,date,amount\n1,2,3,4\n" })
  expect.failed(run_plan({ url = URL }), "plan_error", "the file is not CSV")
end)
