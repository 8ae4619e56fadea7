--! expect: plan_bad_argument 4:20 `send_email`: parameter `to` must be string|string[], but is a list of 2
--! expect: plan_bad_argument 4:85 `send_email`: parameter `attachments.a.txt` must be a string, but is the boolean true
function run(context)
  send_email{ to = { "a@example.com", 5 }, subject = "s", body = "b", attachments = { ["a.txt"] = true } }
  return context
end
