-- Loops each shorter than any interval of a meter.
-- expect: limit_instructions
function run()
  while true do
    for i = 1, 3 do local x = i end
  end
end
