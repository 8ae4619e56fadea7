-- result: [["a","b"],[1,2],false,2]
function run()
  local record = echo({ b = 2, a = 1 })
  local n = 0
  for _ in pairs(record) do n = n + 1 end
  return { list.keys(record), list.values(record), list.is_list(record), n }
end
