--! expect: plan_unknown_tool 3:20 `fetch` is read, but never defined
function run(context)
  local ok = pcall(fetch, "x")
  context.ok = ok
  return context
end
