-- result: ["table",true]
function run()
  local kind = type(fail("a"))
  local ok, r = pcall(fail, "b")
  return { kind, ok }
end
