-- Functions of the prelude are called with themselves and one another, hoping for an inner value.
-- expect: result: "ended"
-- expect: limit_instructions|limit_memory|limit_tool_calls|limit_print|limit_depth
function run()
  local all = {}
  for name, v in pairs(_G) do
    if type(v) == "function" then all[#all + 1] = v end
    if type(v) == "table" and v ~= _G then for _, f in pairs(v) do if type(f) == "function" then all[#all + 1] = f end end end
  end
  for i = 1, #all do
    for j = 1, #all, 7 do
      local got = { pcall(all[i], all[j], all[(i + j) % #all + 1], 1) }
      for k = 1, #got do assert(type(got[k]) ~= "userdata" or got[k] == null) end
    end
  end
  return "ended"
end
