-- Makes and removes keys until the memory is used up.
function run()
  local tables, made = {}, 0
  while true do
    local t = {}
    tables[#tables + 1] = t
    for i = 1, 60 do
      made = made + 1
      t["k" .. (made * 7919) % 100003] = i
      if i % 3 == 0 then t["k" .. ((made - 1) * 7919) % 100003] = nil end
    end
    for i = 1, 20 do t[i * i] = made end
  end
end
