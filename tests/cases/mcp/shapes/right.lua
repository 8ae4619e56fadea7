--# count of a wrapped list
--# result: "You have 2 appointments"
function run()
  local appointments = clinic.list_appointments{}
  if appointments.error then return "failed: " .. appointments.error end
  return "You have " .. #appointments .. " appointments"
end

--# loop over a wrapped list
--# result: ["Ada", "Alan"]
function run()
  local names = {}
  for _, appointment in ipairs(clinic.list_appointments{}) do
    names[#names + 1] = appointment.patient.name
  end
  return names
end

--# must and the library
--# result: [1, 2]
function run()
  return list.pluck(must(clinic.list_appointments{}, "the appointments"), "id")
end

--# a filter with a helper around a result
--# result: [30]
local function ok(result, what)
  if result.error then error(what .. ": " .. result.error) end
  return result
end

function run()
  local visits = list.filter(ok(clinic.list_appointments{}, "appointments"), {kind = "visit"})
  return list.pluck(visits, "minutes")
end

--# the first of a wrapped list
--# result: "visit"
function run()
  local appointments = must(clinic.list_appointments{}, "appointments")
  local first = appointments[1]
  if not first then return "none" end
  return first.kind
end

--# an optional reference
--# result: ["Grace", "nobody"]
function run()
  return list.map(must(clinic.list_appointments{}), function(appointment)
    return appointment.doctor and appointment.doctor.name or "nobody"
  end)
end

--# a wrapped number
--# result: 3
function run()
  return must(clinic.count{}, "the count") + 1
end

--# a record of several parts
--# result: "Ada lives in Bern and has 1 appointment(s)"
function run()
  local patient = must(clinic.find_patient{name = "Ada"}, "Ada")
  return patient.name .. " lives in " .. patient.address.city .. " and has " .. #patient.appointments .. " appointment(s)"
end

--# a page by its items
--# result: {"total": 2, "shown": 2}
function run()
  local page = clinic.page{}
  if page.error then return {error = page.error} end
  local shown = 0
  for _ in ipairs(page.items) do shown = shown + 1 end
  return {total = page.total, shown = shown}
end

--# pages until there is no next
--# result: [1, 2]
function run()
  local ids, next_page = {}, nil
  repeat
    local page = must(clinic.page{name = next_page}, "a page")
    for _, appointment in ipairs(page.items) do ids[#ids + 1] = appointment.id end
    next_page = page.next
  until not next_page
  return ids
end

--# names and values of a record
--# result: ["items", "total"]
function run()
  local page = must(clinic.page{}, "a page")
  local names = {}
  for name in pairs(page) do names[#names + 1] = name end
  return names
end

--# a sole member of another name
--# result: 5
function run()
  local answer = must(clinic.rooms{}, "rooms")
  return list.sum_by(answer.rooms, "beds")
end

--# a table by names
--# result: {"mon": 1, "tue": 1}
function run()
  local counts = {}
  for day, appointments in pairs(must(clinic.by_day{}, "days")) do
    counts[day] = #appointments
  end
  return counts
end

--# a tree that holds itself
--# result: 3
local function count(node)
  local n = 1
  for _, part in ipairs(node.parts) do n = n + count(part) end
  return n
end

function run()
  return count(must(clinic.tree{}, "the departments"))
end

--# either form of an untyped result
--# result: 2
function run()
  local answer = clinic.untyped{}
  if answer.error then return answer.error end
  local items = answer.result or answer
  return #items
end

--# a list tested for before it is used
--# result: 2
function run()
  local answer = clinic.untyped{}
  if answer.error then return answer.error end
  if not list.is_list(answer) then answer = answer.result end
  return #answer
end

--# notes joined
--# result: "first, fasting"
function run()
  local appointments = must(clinic.list_appointments{}, "appointments")
  return table.concat(appointments[1].notes, ", ")
end

--# sorted by minutes
--# result: [2, 1]
function run()
  local appointments = must(clinic.list_appointments{}, "appointments")
  table.sort(appointments, function(a, b) return a.minutes < b.minutes end)
  return list.pluck(appointments, "id")
end

--# grouped by kind
--# result: {"call": 1, "visit": 1}
function run()
  return list.count_by(must(clinic.list_appointments{}), "kind")
end

--# a failed call is handled
--# result: "no appointments: `clinic.broken` failed: out of order"
function run()
  local answer = clinic.broken{}
  if answer.error then return "no appointments: " .. answer.error end
  return #answer
end

--# a record made into a list
--# result: [1, "Ada"]
function run()
  local patient = must(clinic.find_patient{name = "Ada"}, "Ada")
  local one = {patient}
  return {#one, one[1].name}
end

--# a record beside a list of records
--# result: ["Bern", 30]
function run()
  local patient = must(clinic.find_patient{}, "Ada")
  local minutes = 0
  for i = 1, #patient.appointments do
    minutes = minutes + patient.appointments[i].minutes
  end
  return {patient.address.city, minutes}
end

--# in parallel
--# result: [2, 2]
function run()
  local results = parallel{
    function() return must(clinic.list_appointments{}, "appointments") end,
    function() return must(clinic.count{}, "count") end,
  }
  return {#results[1], results[2]}
end

--# a definition as an argument
--# result: 2
function run()
  return #must(clinic.list_appointments{day = "mon"}, "monday")
end

--# wrapped where nothing is unwrapped
--# server: never
--# result: 2
function run()
  local answer = must(clinic.list_appointments{}, "appointments")
  return #answer.result
end

--# a wrapped number where nothing is unwrapped
--# server: never
--# result: 2
function run()
  return must(clinic.count{}, "the count").result
end

--# any one member unwrapped
--# server: always
--# result: ["A", "B"]
function run()
  return list.pluck(must(clinic.rooms{}, "rooms"), "name")
end

--# either form where it is a list
--# result: 2
function run()
  local answer = must(clinic.list_appointments{}, "appointments")
  local appointments = answer.result or answer
  return #appointments
end

--# made a list where it is one
--# result: 2
function run()
  local answer = clinic.list_appointments{}
  if answer.error then return answer.error end
  if answer.result then answer = answer.result end
  return #answer
end
