-- error: record_used_as_list ipairs needs a list, and this is a record with the fields `result`, `total`
function run()
  local count = 0
  for _ in ipairs(echo({ result = { 1, 2 }, total = 2 })) do
    count = count + 1
  end
  return count
end
