-- result: [false, true, false, true]
function run()
  local ok, reason = pcall(must, fail("broken"), "it")
  local other, none = pcall(must, null)
  return { ok, tostring(reason):match("it: call 1 .+ failed: broken") ~= nil, other, tostring(none):match("a result is needed") ~= nil }
end
