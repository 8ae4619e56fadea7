-- A refusal is looked at, then the right mail goes out.
function run(context)
  local first = send_email("stranger@example.com", "not allowed", "x")
  local code = first.error and first.code
  local second = send_email("admin@company.com", "allowed", "first: " .. tostring(code))
  return { code = code, ok = second.error == nil }
end
