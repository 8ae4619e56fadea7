test("tools are the plan's alone", function()
  query_db { table = "users" }
end)

test("no way out of the sandbox", function()
  os.exit(0)
end)
