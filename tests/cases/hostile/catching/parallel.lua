-- parallel of what breaks the limit, beside a branch that says all is well.
-- expect: limit_instructions
function run()
  pcall(parallel, { function() while true do end end, function() return "ok" end })
  return "ok"
end
