--! expect: plan_bad_argument 4:3 `send_email` needs `to` (string|string[]), which is not given
--! expect: plan_bad_argument 5:3 `call_llm` needs `prompt` (string), which is not given
function run(context)
  send_email(nil, "s", "b")
  call_llm(nil)
  return context
end
