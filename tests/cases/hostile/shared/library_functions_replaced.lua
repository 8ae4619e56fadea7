-- Every function of every library is replaced by one that never ends; the host must not call them.
-- expect: result: {"a":[1,2,3],"b":"x"}
local function spin() while true do end end
function run()
  local r = { a = { 1, 2, 3 }, b = "x" }
  for _, v in pairs(_G) do
    if type(v) == "table" and v ~= _G then for k, f in pairs(v) do if type(f) == "function" then v[k] = spin end end end
  end
  for _, k in ipairs({ "tostring", "type", "pairs", "next", "rawget", "rawset", "rawlen", "rawequal", "select", "error", "pcall", "xpcall", "setmetatable", "getmetatable", "tonumber", "print", "assert", "ipairs" }) do _G[k] = spin end
  return r
end
