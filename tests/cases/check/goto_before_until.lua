--! expect: plan_syntax 4:23 this `goto` jumps into the scope of the local `done`
function run(context)
  repeat
    if context.x then goto continue end
    local done = true
    ::continue::
  until done
  return context
end
