function run(context)
  local thoughts = {
    "Customers who write on Sunday mostly want to know that somebody has read them.",
    "Staff on Sundays cost more, and few questions cannot wait until Monday.",
    "So an automatic answer that says when they will be answered is enough.",
  }
  local count = 0
  for i, thought in ipairs(thoughts) do
    local one = thinking.sequentialthinking{
      thought = thought, thoughtNumber = i, totalThoughts = #thoughts, nextThoughtNeeded = i < #thoughts,
    }
    if one.error then error(one.error) end
    count = one.thoughtHistoryLength
  end
  return {thoughts = count}
end
