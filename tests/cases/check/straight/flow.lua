--# early returns, one after another
function run(context)
  local amount = context.amount or 75
  if type(amount) ~= "number" then return "no number" end
  if amount < 0 then return "negative" end
  if amount == 0 then return "nothing" end
  if amount < 100 then return "small" end
  return "large"
end

--# goto as continue
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  local mails = {}
  for _, row in ipairs(rows) do
    if not row.email then goto continue end
    if not row.active then goto continue end
    mails[#mails + 1] = row.email
    ::continue::
  end
  return mails
end

--# a loop that breaks at the first hit
function run(context)
  local rows = query_db{table = "orders"}
  if rows.error then return {error = rows.error} end
  local found = nil
  for i, row in ipairs(rows) do
    if row.status == "cancelled" then
      found = {place = i, id = row.id}
      break
    end
  end
  if found then return {id = found.id, place = found.place} end
  return {none = true}
end

--# while with two conditions
function run(context)
  local n, steps = context.start or 27, 0
  while n ~= 1 and steps < 1000 do
    if n % 2 == 0 then n = n // 2 else n = 3 * n + 1 end
    steps = steps + 1
  end
  return {steps = steps}
end

--# a binary search
function run(context)
  local function search(sorted, wanted)
    local low, high = 1, #sorted
    while low <= high do
      local middle = (low + high) // 2
      if sorted[middle] == wanted then return middle end
      if sorted[middle] < wanted then low = middle + 1 else high = middle - 1 end
    end
    return nil
  end
  local places = {}
  for _, wanted in ipairs({7, 8}) do
    places[#places + 1] = search({1, 3, 5, 7, 9}, wanted) or 0
  end
  return places
end

--# nested loops with a flag
function run(context)
  local pairs_found = {}
  local numbers = {2, 7, 11, 15}
  local done = false
  for i = 1, #numbers do
    for j = i + 1, #numbers do
      if numbers[i] + numbers[j] == 18 then
        pairs_found = {numbers[i], numbers[j]}
        done = true
        break
      end
    end
    if done then break end
  end
  return {found = pairs_found, first = pairs_found[1]}
end

--# repeat until with a local in the condition
function run(context)
  local x = 10.0
  local turns = 0
  repeat
    local better = (x + 2 / x) / 2
    local change = math.abs(x - better)
    x = better
    turns = turns + 1
  until change < 1e-9 or turns > 50
  return {root = math.round(x, 6)}
end

--# prime numbers by a sieve
function run(context)
  local limit = 50
  local composite = {}
  local primes = {}
  for n = 2, limit do
    if not composite[n] then
      primes[#primes + 1] = n
      for multiple = n * n, limit, n do composite[multiple] = true end
    end
  end
  return {count = #primes, last = primes[#primes]}
end

--# counting down and by steps
function run(context)
  local out = {}
  for i = 10, 1, -3 do out[#out + 1] = i end
  for x = 0, 1, 0.25 do out[#out + 1] = x end
  return out
end

--# recursion with an accumulator
local function sum(items, place, so_far)
  place, so_far = place or 1, so_far or 0
  if place > #items then return so_far end
  return sum(items, place + 1, so_far + items[place])
end

function run(context)
  return {sum = sum({1, 2, 3, 4})}
end

--# functions that call each other
local is_even

local function is_odd(n)
  if n == 0 then return false end
  return is_even(n - 1)
end

function is_even(n)
  if n == 0 then return true end
  return is_odd(n - 1)
end

function run(context)
  return {even = is_even(10), odd = is_odd(7)}
end

--# a generator by coroutine
local function upto(n)
  return coroutine.wrap(function()
    for i = 1, n do coroutine.yield(i) end
  end)
end

function run(context)
  local sum = 0
  for i in upto(5) do sum = sum + i end
  return {sum = sum}
end

--# an iterator by closure
local function pages(items, size)
  local at = 0
  return function()
    if at >= #items then return nil end
    local page = list.slice(items, at + 1, math.min(at + size, #items))
    at = at + size
    return page
  end
end

function run(context)
  local sizes = {}
  for page in pages(list.range(7), 3) do sizes[#sizes + 1] = #page end
  return sizes
end

--# a state machine
function run(context)
  local state, log = "idle", {}
  local transitions = {
    idle = {start = "running"},
    running = {pause = "paused", stop = "idle"},
    paused = {resume = "running", stop = "idle"},
  }
  for _, event in ipairs({"start", "pause", "jump", "resume", "stop"}) do
    local next_state = transitions[state][event] --? plan_nil_index
    if next_state then
      log[#log + 1] = state .. ">" .. next_state
      state = next_state
    else
      log[#log + 1] = "ignored " .. event
    end
  end
  return {state = state, log = log}
end

--# a variable number of arguments
local function average(...)
  local n = select("#", ...)
  if n == 0 then return nil end
  local sum = 0
  for i = 1, n do sum = sum + (select(i, ...)) end
  return sum / n
end

function run(context)
  return {average = average(1, 2, 3), none = average() == nil, packed = table.pack(1, nil, 3).n}
end

--# several results and a swap
local function divide(a, b)
  return a // b, a % b
end

function run(context)
  local quotient, rest = divide(17, 5)
  quotient, rest = rest, quotient
  return {quotient = quotient, rest = rest, all = {divide(9, 2)}}
end

--# the step that is next, by the context
--# context: {"step": "count", "done": []}
function run(context)
  if context.step == "count" then
    local rows = query_db{table = "orders"}
    if rows.error then return {step = "count", error = rows.error} end
    context.count = #rows
    context.step = "tell"
  elseif context.step == "tell" then
    context.step = "end"
  end
  table.insert(context.done, context.step)
  return context
end

--# shortest way in a small graph
function run(context)
  local graph = {a = {b = 1, c = 4}, b = {c = 2, d = 5}, c = {d = 1}, d = {}}
  local distance, visited = {a = 0}, {}
  while true do
    local nearest
    for node, far in pairs(distance) do
      if not visited[node] and (nearest == nil or far < distance[nearest]) then nearest = node end
    end
    if nearest == nil then break end
    visited[nearest] = true
    for neighbour, cost in pairs(graph[nearest]) do
      local through = distance[nearest] + cost
      if distance[neighbour] == nil or through < distance[neighbour] then
        distance[neighbour] = through
      end
    end
  end
  return {d = distance.d}
end

--# tasks in the order of what they need
function run(context)
  local needs = {build = {"fetch"}, test = {"build"}, fetch = {}, ship = {"test", "build"}}
  local order, state = {}, {}
  local function visit(name)
    if state[name] == "done" then return end
    if state[name] == "open" then error("a circle at " .. name) end
    state[name] = "open"
    for _, need in ipairs(needs[name]) do visit(need) end
    state[name] = "done"
    order[#order + 1] = name
  end
  for _, name in ipairs(list.keys(needs)) do visit(name) end
  return {order = order, last = order[#order]}
end

--# bits and shifts
function run(context)
  local flags = {read = 1, write = 2, admin = 4}
  local granted = flags.read | flags.admin
  local names = {}
  for name, bit in pairs(flags) do
    if granted & bit ~= 0 then names[#names + 1] = name end
  end
  table.sort(names)
  return {names = names, shifted = 1 << 4, without = granted & ~flags.admin}
end

--# a variable declared first and set in branches
function run(context)
  local label, colour
  local stock = context.stock or 3
  if stock == 0 then
    label, colour = "gone", "red"
  elseif stock < 5 then
    label, colour = "few", "orange"
  else
    label, colour = "enough", "green"
  end
  return {text = label:upper() .. "/" .. colour}
end

--# a value filled in by a callback
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  local oldest
  list.each(rows, function(row)
    if not oldest or row.age > oldest.age then oldest = row end
  end)
  return {name = oldest and oldest.name}
end

--# do blocks with their own names
function run(context)
  local out = {}
  do
    local n = 1
    out.first = n
  end
  do
    local n = "two"
    out.second = n .. "!"
  end
  return out
end

--# a comparison in three ways
local function compare(a, b)
  if a < b then return -1 elseif a > b then return 1 end
  return 0
end

function run(context)
  local rows = query_db{table = "products"}
  if rows.error then return {error = rows.error} end
  table.sort(rows, function(a, b)
    local by_category = compare(a.category, b.category)
    if by_category ~= 0 then return by_category < 0 end
    return a.price > b.price
  end)
  return list.map(rows, "name")
end

--# to be closed at the end
function run(context)
  local log = {}
  do
    local guard <close> = setmetatable({}, {__close = function() log[#log + 1] = "closed" end})
    log[#log + 1] = "open"
  end
  return {log = log, n = #log}
end
