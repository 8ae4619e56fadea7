-- error: plan_syntax line 4:
function run()
  local x =
end
