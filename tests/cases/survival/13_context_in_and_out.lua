-- What the run was given decides what it does.
-- context: {"who": "admin@company.com", "times": 2, "nothing": null, "list": []}
function run(context)
  for i = 1, context.times do
    local receipt = send_email(context.who, "time " .. i, "x")
    if receipt.error then error(receipt.error) end
    context.list[#context.list + 1] = i
  end
  return context
end
