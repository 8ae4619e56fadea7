local function mock_figures(counts, doubles, orphans)
  mock("query_db", { sequence = {
    { returns = { counts } }, { returns = doubles }, { returns = { { orders = orphans } } },
  } })
end

test("good data has no problems", function()
  mock_figures({ customers = 200, with_email = 199, with_city = 200 }, {}, 0)
  local run = run_plan({})
  expect.succeeded(run)
  expect.truthy(run.result.ok)
  expect.equal(run.result.quality.email_missing_percent, 0.5)
  expect.called(run, "query_db", { times = 3 })
end)

test("each problem is named", function()
  mock_figures({ customers = 3, with_email = 2, with_city = 3 }, { { email = "x@example.com", copies = 2 } }, 4)
  local run = run_plan({ missing_percent_max = 10 })
  expect.succeeded(run)
  expect.falsy(run.result.ok)
  expect.equal(run.result.problems, {
    "email is missing in 33.3% of the customers",
    "1 addresses are used by several customers",
    "4 orders have no customer",
  })
end)

test("an empty table is not divided by", function()
  mock_figures({ customers = 0, with_email = 0, with_city = 0 }, {}, 0)
  local run = run_plan({})
  expect.succeeded(run)
  expect.truthy(run.result.ok)
end)

test("one failed query of the three is named", function()
  mock("query_db", { sequence = {
    { returns = { { customers = 1, with_email = 1, with_city = 1 } } },
    { fails = { code = "query_failed", message = "no such column: email" } },
    { returns = { { orders = 0 } } },
  } })
  local run = run_plan({})
  expect.failed(run, "plan_error", "the query for doubles failed: no such column: email")
  expect.called(run, "query_db", { times = 3 })
end)
