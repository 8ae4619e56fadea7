-- The context is filled until it does not fit, and nothing is returned.
-- expect: limit_memory|limit_instructions
function run(context)
  local i = 0
  while true do i = i + 1 context["k" .. i] = string.rep("x", 1000) .. i end
end
