-- One table of a million numbers, then another.
-- expect: limit_memory
-- expect on piccolo: limit_instructions
-- expect on piccolo: limit_memory
function run()
  local all = {}
  while true do
    local t = {}
    for i = 1, 500000 do t[i] = i + 0.5 end
    all[#all + 1] = t
  end
end
