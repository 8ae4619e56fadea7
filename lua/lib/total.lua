-- The sum of the first `count` numbers of a list: whole numbers stay whole while they fit 64 bits;
-- fractions are summed with their rounding errors carried along (Neumaier 1974), so that
-- 0.1 + 0.2 + 0.3 is 0.6.
local _ENV = ...

return function(numbers, count)
  local whole = 0
  local first = count + 1
  for i = 1, count do
    local number = numbers[i]
    if math_type(number) ~= "integer" then
      first = i
      break
    end
    local sum = whole + number
    -- Wrapped around: the sum moved against the sign of what was added.
    if (number >= 0) ~= (sum >= whole) then
      first = i
      break
    end
    whole = sum
  end
  if first > count then return whole end
  local sum, lost = whole + 0.0, 0.0
  for i = first, count do
    local number = numbers[i] + 0.0
    local next_sum = sum + number
    if (sum < 0 and -sum or sum) >= (number < 0 and -number or number) then
      lost = lost + ((sum - next_sum) + number)
    else
      lost = lost + ((number - next_sum) + sum)
    end
    sum = next_sum
  end
  -- An infinity has no error to carry; the correction would make it NaN.
  if lost ~= lost then return sum end
  return sum + lost
end
