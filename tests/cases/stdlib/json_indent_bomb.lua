-- stops: limit_memory
local deep = {}
for _ = 1, 100 do deep = { deep } end
local wide = {}
for i = 1, 1000 do wide[i] = deep end
for _ = 1, 20 do wide = { wide } end
json.encode({ wide, wide, wide }, { indent = 16 })
