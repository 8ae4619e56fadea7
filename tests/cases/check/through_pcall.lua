--! expect: plan_bad_argument 3:14 `send_email` needs `body` (string), which is not given
function run(context)
  local ok = pcall(send_email, { to = "a@example.com", subject = "s" })
  context.ok = ok
  return context
end
