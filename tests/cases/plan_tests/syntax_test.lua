test("fine", function()
  expect.equal(1, 1)
end)

local x = = 3
