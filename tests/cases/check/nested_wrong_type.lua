--! expect: plan_bad_argument 4:20 `send_email`: parameter `to` must be string|string[]; a list of 2 came
--! expect: plan_bad_argument 4:85 `send_email`: parameter `attachments.a.txt` must be string; the boolean true came
function run(context)
  send_email{ to = { "a@example.com", 5 }, subject = "s", body = "b", attachments = { ["a.txt"] = true } }
  return context
end
