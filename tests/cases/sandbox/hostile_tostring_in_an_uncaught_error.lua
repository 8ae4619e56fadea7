-- error: plan_error
function run()
  error(setmetatable({}, { __tostring = function() while true do end end }))
end
