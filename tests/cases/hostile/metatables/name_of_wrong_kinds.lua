-- `__name` of every kind, and longer than any message.
-- expect: result: "ended"
function run()
  for _, name in ipairs({ 1, true, {}, print, string.rep("x", 1000000), "\0\255", "%s%n" }) do
    local t = setmetatable({}, { __name = name })
    pcall(function() return #tostring(t) end)
    pcall(function() return t + 1 end)
    pcall(function() return t < t end)
    pcall(string.rep, t)
    pcall(math.floor, t)
  end
  return "ended"
end
