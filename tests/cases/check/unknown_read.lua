--! expect: warning plan_unknown_tool 4:6 `debug_mode` is read, but never defined
--! expect: plan_unknown_tool 5:19 `settings` is read, but never defined
function run(context)
  if debug_mode then print(1) end
  context.value = settings.colour
  return context
end
