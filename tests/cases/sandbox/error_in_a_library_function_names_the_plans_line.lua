-- error: plan_error line 3: bad argument #1 to 'rep'
function run()
  local text = string.rep()
  return text
end
