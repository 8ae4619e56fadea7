-- error: tool_error_ignored call 1
function run(context)
  local r = fail()
  if not r or r == nil then
    return "nothing"
  end
  return "something"
end
