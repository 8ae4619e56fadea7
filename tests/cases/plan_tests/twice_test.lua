test("same", function() end)

test("same", function() end)
