-- The limit comes inside an iterator made by wrap.
-- expect: limit_instructions
function run()
  pcall(function() for x in coroutine.wrap(function() while true do end end) do end end)
  return "ok"
end
