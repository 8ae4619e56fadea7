-- result: false
function run()
  local ok = pcall(function()
    for _ in ipairs(echo({ a = 1 })) do end
  end)
  return ok
end
