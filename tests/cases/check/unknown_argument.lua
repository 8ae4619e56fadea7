--! expect: plan_bad_argument 3:37 `send_email` has no parameter `subjct`; did you mean `subject`?
function run(context)
  send_email{ to = "a@example.com", subjct = "s", body = "b" }
  return context
end
