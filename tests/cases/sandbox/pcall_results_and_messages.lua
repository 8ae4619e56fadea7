-- result: [true,1,2,false,"cases",false,7,false,"handled: plan.lua:10: x"]
-- Positions are those of the plan.
function run()
  local ok, one, two = pcall(function() return 1, 2 end)
  local bad, why = pcall(error, "cases", 0)
  local bad2, seven = pcall(error, 7)
  local bad3, handled = xpcall(
    function()
      local _ = nil
      error("x")
    end,
    function(reason) return "handled: " .. reason end
  )
  return { ok, one, two, bad, why, bad2, seven, bad3, handled }
end
