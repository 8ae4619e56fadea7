-- Whatever the limit raises is looked at, kept and raised again.
-- expect: limit_instructions
function run()
  local seen = {}
  for i = 1, 10 do
    local ok, e = pcall(function() while true do end end)
    seen[i] = tostring(e)
    pcall(error, e)
  end
  return seen
end
