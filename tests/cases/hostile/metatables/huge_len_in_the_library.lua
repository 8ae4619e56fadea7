-- `__len` of quintillions given to each function that takes a list.
-- expect: limit_instructions|limit_memory|plan_error
-- expect: result: "ended"
function run()
  for _, library in ipairs({ table, list, stats, text, csv, json }) do
    for _, f in pairs(library) do
      local t = setmetatable({}, { __len = function() return 1 << 50 end, __index = function() return 1 end, __newindex = function() end })
      pcall(f, t)
      pcall(f, t, 1)
      pcall(f, t, function() return 1 end)
    end
  end
  return "ended"
end
