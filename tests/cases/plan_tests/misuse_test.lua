-- Every test here uses the kit wrongly; what it is told is in misuse.txt.
test("a mock of no tool", function()
  mock("query_dbx", { returns = {} })
  run_plan({})
end)

test("a mock without an answer", function()
  mock("query_db", { when = { table = "t" } })
end)

test("a mock with a slip of the pen", function()
  mock("query_db", { retruns = {} })
end)

test("a mock that is no table", function()
  mock("query_db", "rows")
end)

test("a mock with two answers", function()
  mock("query_db", { returns = {}, fails = "query_failed" })
  run_plan({})
end)

test("a mock with an answer beside its sequence", function()
  mock("query_db", { delay_ms = 5, sequence = { { returns = {} } } })
  run_plan({})
end)

test("an empty sequence", function()
  mock("query_db", { sequence = {} })
  run_plan({})
end)

test("a sequence with an answer that is none", function()
  mock("query_db", { sequence = { { returns = {} }, {} } })
  run_plan({})
end)

test("a value the tool never returns", function()
  mock("send_email", { returns = "sent" })
  run_plan({})
end)

test("when with no argument of the tool", function()
  mock("query_db", { when = { tabel = "t" }, returns = {} })
  run_plan({})
end)

test("when with a list", function()
  mock("query_db", { when = { "t" }, returns = {} })
  run_plan({})
end)

test("a failure without a code", function()
  mock("query_db", { fails = { message = "broken" } })
  run_plan({})
end)

test("an answer that never comes", function()
  mock("query_db", { returns = {}, delay_ms = 3600000 })
  run_plan({})
end)

test("a context that is no table", function()
  run_plan("context")
end)

test("a context that cannot be carried", function()
  run_plan({ f = function() end })
end)

test("an unknown option of run_plan", function()
  run_plan({}, { limit = { wall = "1s" } })
end)

test("an unknown limit", function()
  run_plan({}, { limits = { walls = "1s" } })
end)

test("a limit that is none", function()
  run_plan({}, { limits = { wall = "soon" } })
end)

test("an expectation of no run", function()
  expect.succeeded({})
end)

test("an unknown option of expect.called", function()
  expect.called(run_plan({}), "query_db", { time = 1 })
end)

test("a test inside a test", function()
  test("inner", function() end)
end)

test("a test that never ends", function()
  while true do
  end
end)
