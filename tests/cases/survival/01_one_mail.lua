-- One mail, and its receipt looked at.
function run(context)
  local receipt = send_email("admin@company.com", "one", "hello")
  if receipt.error then return { failed = receipt.code } end
  return { sent = true }
end
