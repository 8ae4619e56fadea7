-- The library `stats`: figures of a list of numbers.
--
-- Every function takes a list of numbers or numeric text, or a list of rows and the name of their
-- member. As in SQL, missing values (nil or null) do not count. Numbers and text in one list are refused: a column
-- that holds both was read wrongly. See list.lua for the environment.
local _ENV = ...

local stats = {}

-- The numbers of a list and how many there are.
local function numbers_of(name, items, key)
  if type(items) ~= "table" then
    fail("stats." .. name .. ": argument 1 (list) must be a table, got " .. kind(items))
  end
  if #items == 0 then ipairs(items, "stats." .. name) end
  if key ~= nil and type(key) ~= "string" and type(key) ~= "number" then
    fail("stats." .. name .. ": the key must be a member's name, got " .. kind(key))
  end
  local numbers, count = {}, 0
  local full_name = "stats." .. name
  local first_kind, first_place
  for i = 1, #items do
    local value = items[i]
    if key ~= nil and value ~= null then
      if type(value) ~= "table" then
        fail("stats." .. name .. ": item " .. i .. " has no member " .. key .. ", it is " .. kind(value))
      end
      value = value[key]
    end
    if value ~= nil and value ~= null then
      local number = tonumber(value)
      if not number then
        local shown = type(value) == "string" and "the text " .. quote(value) or kind(value)
        fail("stats." .. name .. ": item " .. i .. " must be a number, got " .. shown)
      end
      first_kind, first_place = one_kind(full_name, first_kind, first_place, value, i)
      count = count + 1
      numbers[count] = number
    end
  end
  return numbers, count
end

local function sorted(numbers, count)
  local order = sorted_order(numbers, count, false)
  for i = 1, count do order[i] = numbers[order[i]] end
  return order
end

-- The value a share (0 to 1) of the way through sorted numbers, between neighbours in proportion.
local function at_share(ordered, count, share)
  local place = share * (count - 1) + 1
  local below = floor(place)
  local value = ordered[below]
  if place == below or below >= count then return value end
  return value + (ordered[below + 1] - value) * (place - below)
end

function stats.sum(items, key)
  local numbers, count = numbers_of("sum", items, key)
  return (total(numbers, count))
end

function stats.count(items, key)
  local _, count = numbers_of("count", items, key)
  return count
end

function stats.mean(items, key)
  local numbers, count = numbers_of("mean", items, key)
  if count == 0 then return nil end
  return total(numbers, count) / count
end

function stats.median(items, key)
  local numbers, count = numbers_of("median", items, key)
  if count == 0 then return nil end
  return (at_share(sorted(numbers, count), count, 0.5))
end

function stats.percentile(items, p, key)
  local share = tonumber(p)
  if not share or not (share >= 0 and share <= 100) then
    fail("stats.percentile: argument 2 (p) must be a number from 0 to 100, got " .. tostring(p))
  end
  local numbers, count = numbers_of("percentile", items, key)
  if count == 0 then return nil end
  return (at_share(sorted(numbers, count), count, share / 100))
end

function stats.min(items, key)
  local numbers, count = numbers_of("min", items, key)
  local least = numbers[1]
  for i = 2, count do
    if numbers[i] < least then least = numbers[i] end
  end
  return least
end

function stats.max(items, key)
  local numbers, count = numbers_of("max", items, key)
  local most = numbers[1]
  for i = 2, count do
    if numbers[i] > most then most = numbers[i] end
  end
  return most
end

-- Sum of squared distances from the mean.
local function squares(numbers, count)
  local mean = total(numbers, count) / count
  local distances = {}
  for i = 1, count do
    local distance = numbers[i] - mean
    distances[i] = distance * distance
  end
  return total(distances, count)
end

-- The variance of a sample, or of the whole population.
local function spread(name, items, key, of)
  if of ~= nil and of ~= "sample" and of ~= "population" then
    fail("stats." .. name .. ': argument 3 (of) must be "sample" or "population"')
  end
  local numbers, count = numbers_of(name, items, key)
  local divisor = of == "population" and count or count - 1
  if divisor < 1 then return nil end
  return squares(numbers, count) / divisor
end

function stats.variance(items, key, of)
  return (spread("variance", items, key, of))
end

function stats.stdev(items, key, of)
  local variance = spread("stdev", items, key, of)
  return variance and sqrt(variance)
end

function stats.mode(items, key)
  local numbers, count = numbers_of("mode", items, key)
  local seen, best, most = {}, nil, 0
  for i = 1, count do
    local number = numbers[i]
    if number == number then seen[number] = (seen[number] or 0) + 1 end
  end
  for i = 1, count do
    local times = seen[numbers[i]]
    if times and times > most then
      best, most = numbers[i], times
    end
  end
  return best
end

function stats.histogram(items, bins, key)
  local wanted = tointeger(tonumber(bins))
  if not wanted or wanted < 1 then
    fail("stats.histogram: argument 2 (bins) must be a whole number of at least 1, got " .. tostring(bins))
  end
  local numbers, count = numbers_of("histogram", items, key)
  local boxes = {}
  if count == 0 then return as_list(boxes) end
  local ordered = sorted(numbers, count)
  local least, most = ordered[1], ordered[count]
  if not (least > -huge and most < huge) then
    fail("stats.histogram: every number must be finite")
  end
  local width = (most - least) / wanted
  for i = 1, wanted do
    boxes[i] = { from = least + (i - 1) * width, to = i == wanted and most or least + i * width, count = 0 }
  end
  for i = 1, count do
    local place = width > 0 and floor((ordered[i] - least) / width) + 1 or 1
    if place > wanted then place = wanted end
    boxes[place].count = boxes[place].count + 1
  end
  return as_list(boxes)
end

function stats.correlation(xs, ys)
  local left, count = numbers_of("correlation", xs)
  local right, other = numbers_of("correlation", ys)
  if count ~= other then
    fail("stats.correlation: the lists must be of the same length, got " .. count .. " and " .. other)
  end
  if count < 2 then return nil end
  local mean_left, mean_right = total(left, count) / count, total(right, count) / count
  local products = {}
  for i = 1, count do products[i] = (left[i] - mean_left) * (right[i] - mean_right) end
  local left_squares, right_squares = squares(left, count), squares(right, count)
  local scale = sqrt(left_squares * right_squares)
  if scale == huge or scale == 0 then scale = sqrt(left_squares) * sqrt(right_squares) end
  if scale == 0 then return nil end
  local share = total(products, count) / scale
  -- Rounding alone must not carry it past its bounds.
  if share > 1 then return 1.0 end
  if share < -1 then return -1.0 end
  return share
end

function stats.summary(items, key)
  local numbers, count = numbers_of("summary", items, key)
  local summary = { count = count, sum = total(numbers, count) }
  if count > 0 then
    local ordered = sorted(numbers, count)
    summary.mean = summary.sum / count
    summary.median = at_share(ordered, count, 0.5)
    summary.min, summary.max = ordered[1], ordered[count]
    if count > 1 then summary.stdev = sqrt(squares(numbers, count) / (count - 1)) end
  end
  return summary
end

stats.round = round

return stats
