-- No function gives bytecode, none takes it.
-- expect: result: "ended"
-- expect on piccolo: plan_error
function run()
  for _, library in pairs(_G) do
    if type(library) == "table" then
      for name in pairs(library) do assert(name ~= "dump" and name ~= "load" and name ~= "loadlib") end
    end
  end
  assert(("").dump == nil)
  return "ended"
end
