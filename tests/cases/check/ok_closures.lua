local function counter(start)
  local n = start or 0
  return function(step)
    n = n + (step or 1)
    return n
  end
end

function run(context)
  local next_id = counter(10)
  context.ids = { next_id(), next_id(2), next_id() }
  return context
end
