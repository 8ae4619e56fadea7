-- An indent of a billion.
-- expect: result: "ended"
-- expect: limit_memory|plan_error
function run()
  local t = { { { {} } } }
  for _, n in ipairs({ 1000000000, -1, 1.5, 1 << 62, math.mininteger }) do pcall(json.encode, t, { indent = n }) end
  return "ended"
end
