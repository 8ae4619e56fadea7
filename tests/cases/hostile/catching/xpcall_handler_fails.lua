-- A handler that always fails.
-- expect: result: "ok"
function run()
  for i = 1, 100 do xpcall(error, error, "x") end
  return "ok"
end
