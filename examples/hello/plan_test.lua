test("greets by name", function()
  local run = run_plan { name = "  world " }
  expect.succeeded(run)
  expect.equal(run.result.greeting, "Hello, world!")
end)

test("greets a stranger when the name is missing or blank", function()
  expect.equal(run_plan({}).result.greeting, "Hello, stranger!")
  expect.equal(run_plan({ name = "   " }).result.greeting, "Hello, stranger!")
end)
