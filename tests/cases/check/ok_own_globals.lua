counter = 0

function bump()
  counter = counter + 1
  later()
end

function later() total = counter * 2 end

_G.helper = function(x) return x end

function run(context)
  bump()
  context.total = helper(total)
  return context
end
