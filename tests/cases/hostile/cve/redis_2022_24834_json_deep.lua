-- CVE-2022-24834, the other half: depth and width of what is written.
-- expect: result: [false,false]
function run()
  local deep = {}
  for i = 1, 5000 do deep = { deep } end
  local named = {}
  for i = 1, 5000 do named = { x = named } end
  return { (pcall(json.encode, deep)), (pcall(json.encode, named)) }
end
