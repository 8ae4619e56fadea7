-- Every global is taken away, then every member of every library.
-- expect: result: 1
function run()
  local pairs, type, G = pairs, type, _G
  for _, v in pairs(G) do
    if type(v) == "table" and v ~= G then for k in pairs(v) do v[k] = nil end end
  end
  for k in pairs(G) do G[k] = nil end
  return 1
end
