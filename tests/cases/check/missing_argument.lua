--! expect: plan_bad_argument 4:3 `send_email` needs `body` (string), which is not given
--! expect: plan_bad_argument 5:3 `send_email` needs `body` (string), which is not given
function run(context)
  send_email{ to = "a@example.com", subject = "s" }
  send_email("a@example.com", "s")
  return context
end
