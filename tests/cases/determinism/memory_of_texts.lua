-- Makes and drops texts until those kept use up the memory.
function run()
  local kept, place = {}, 0
  while true do
    place = place + 1
    local text = ("row " .. place):rep(1 + place % 40, "-")
    kept["n" .. place % 5000] = text
    if place % 7 == 0 then kept[#kept + 1] = text .. text end
    if place % 11 == 0 then kept["n" .. (place * 31) % 5000] = nil end
  end
end
