test("without a plan beside it", function() end)
