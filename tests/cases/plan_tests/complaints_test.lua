-- Every test here fails; what it says is in complaints.txt.
test("equal", function()
  local run = run_plan({})
  expect.equal(run.result.n, 2)
end)

test("equal names what differs and where", function()
  local run = run_plan({})
  expect.equal(run.result, { n = 1, name = "x", items = { 1, 3 } }, "the result")
end)

test("equal finds what is too much", function()
  expect.equal(run_plan({}).result, { n = 1, items = { 1, 2 } })
end)

test("from a helper, the helper's line", function()
  local function check(run)
    expect.equal(run.result.name, "y", "the name")
  end
  check(run_plan({}))
end)

test("a plan that breaks", function()
  expect.succeeded(run_plan({ index = true }))
end)

test("a plan that calls what is not mocked", function()
  expect.succeeded(run_plan({ query = true }))
end)

test("a failure nobody looked at", function()
  mock("query_db", { fails = { code = "query_failed", message = "no such table" } })
  expect.succeeded(run_plan({ query = true }))
end)

test("it did not fail", function()
  expect.failed(run_plan({}), "plan_error")
end)

test("it failed with another code", function()
  expect.failed(run_plan({ index = true }), "limit_wall")
end)

test("it failed with another message", function()
  expect.failed(run_plan({ index = true }), "plan_error", "a boolean")
end)

test("not called", function()
  expect.called(run_plan({}), "query_db")
end)

test("called too often and with what", function()
  mock("query_db", { returns = {} })
  local run = run_plan({ query = true })
  expect.called(run, "query_db", { times = 1, with = { table = "orders" } })
end)

test("called though it must not be", function()
  mock("query_db", { returns = {} })
  expect.not_called(run_plan({ query = true }), "query_db")
end)

test("another order", function()
  mock("query_db", { returns = {} })
  expect.calls(run_plan({ query = true }), { "query_db", "send_email" })
end)

test("contains", function()
  expect.contains("a text", "b")
end)

test("contains, of a list", function()
  expect.contains({ 1, 2 }, 3)
end)

test("matches", function()
  expect.matches("a text", "^%d")
end)

test("printed", function()
  expect.printed(run_plan({}), "something")
end)

test("truthy and falsy", function()
  expect.truthy(1)
  expect.falsy(null)
  expect.falsy(0, "the count")
end)

test("near", function()
  expect.near(0.1 + 0.2, 0.3)
  expect.near(1, 1.2, 0.1)
end)

test("not equal", function()
  expect.not_equal({ 1 }, { 1 })
end)

test("raises", function()
  expect.raises(function() error("a reason") end, "a reason")
  expect.raises(function() end)
end)

test("an error of the test's own", function()
  local nothing = nil
  print("about to fail")
  return nothing.field
end)

test("an error raised as a table", function()
  error({ message = "as a table" })
end)
