--! expect: plan_forbidden_global 3:28 `debug.traceback` does not exist in the sandbox
function run(context)
  local ok = xpcall(print, debug.traceback)
  context.ok = ok
  return context
end
