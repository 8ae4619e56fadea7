-- Every function of every library with arguments of every kind: an end with a value or an error each time.
-- expect: result: "ended"
-- expect: limit_instructions|limit_memory
-- limits: tool_calls=20
function run()
  local values = { 0, -1, 1.5, 0 / 0, math.huge, math.mininteger, "", "x", "\0\xFF", true, null, {}, { 1, 2, x = 3 }, print, coroutine.create(print), setmetatable({}, { __len = function() return 3 end, __index = function() return 1 end }) }
  for _, lib in ipairs({ "string", "table", "math", "utf8", "json", "csv", "text", "date", "stats", "list" }) do
    for name, f in pairs(_G[lib]) do
      if type(f) == "function" then
        for i = 1, #values do
          pcall(f, values[i])
          for j = 1, #values, 3 do pcall(f, values[i], values[j]) pcall(f, values[i], values[j], values[#values - i + 1]) end
        end
      end
    end
  end
  return "ended"
end
