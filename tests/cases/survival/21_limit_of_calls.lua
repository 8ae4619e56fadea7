-- A limit ends it after some mails.
-- limits: tool_calls=3
function run(context)
  for i = 1, 10 do
    local receipt = send_email("admin@company.com", "number " .. i, "x")
    if receipt.error then return i end
  end
end
