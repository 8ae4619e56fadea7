--# a field of the wrapper that is gone
function run()
  local answer = clinic.list_appointments{}
  if answer.error then return answer.error end
  return #answer.result --! plan_unknown_field
end

--# the wrapper that is gone, with a list in its place
function run()
  local answer = clinic.list_appointments{}
  if answer.error then return answer.error end
  local n = 0
  for _ in ipairs(answer.result or {}) do n = n + 1 end --! plan_unknown_field
  return "You have " .. n .. " appointments"
end

--# the wrapper that is gone, tested for
function run()
  local answer = must(clinic.list_appointments{}, "appointments")
  if not answer.result then return "You have no appointments" end --! plan_unknown_field
  return "You have some"
end

--# a loop over a page
function run()
  local page = clinic.page{}
  if page.error then return page.error end
  local n = 0
  for _ in ipairs(page) do n = n + 1 end --! plan_wrong_kind
  return "You have " .. n .. " appointments"
end

--# the length of a page
function run()
  local page = must(clinic.page{}, "a page")
  return "You have " .. #page .. " appointments" --! plan_wrong_kind
end

--# the length of a page in a test
function run()
  local page = must(clinic.page{}, "a page")
  if #page == 0 then return "You have no appointments" end --! plan_wrong_kind
  return "You have some"
end

--# the length of a page in a loop
function run()
  local page = must(clinic.page{}, "a page")
  local minutes = 0
  for i = 1, #page do --! plan_wrong_kind
    minutes = minutes + page.items[i].minutes
  end
  return minutes
end

--# the first item of a page
function run()
  local page = must(clinic.page{}, "a page")
  local first = page[1] --! plan_wrong_kind
  return first and first.id or "none"
end

--# the first item of a page in a test
function run()
  local page = must(clinic.page{}, "a page")
  if page[1] then return "some" end --! plan_wrong_kind
  return "none"
end

--# an item of a page by a number
function run()
  local page = must(clinic.page{}, "a page")
  local ids = {}
  for i = 1, page.total do
    local one = page[i] --! plan_wrong_kind
    ids[#ids + 1] = one and one.id
  end
  return ids
end

--# a map over a page
function run()
  local page = must(clinic.page{}, "a page")
  return list.map(page, function(one) return one.id end) --! plan_wrong_kind
end

--# a filter over the call itself
function run()
  return list.filter(must(clinic.page{}, "a page"), {kind = "visit"}) --! plan_wrong_kind
end

--# each of a patient
function run()
  local patient = clinic.find_patient{name = "Ada"}
  if patient.error then return patient.error end
  local seen = {}
  list.each(patient, function(one) seen[#seen + 1] = one.name end) --! plan_wrong_kind
  return seen
end

--# a pluck from a patient
function run()
  local found = must(clinic.find_patient{name = "Ada"}, "Ada")
  return list.pluck(found, "name") --! plan_wrong_kind
end

--# a sum over rooms in their record
function run()
  local rooms = must(clinic.rooms{}, "rooms")
  return stats.sum(rooms, "beds") --! plan_wrong_kind
end

--# the number of rooms in their record
function run()
  local rooms = must(clinic.rooms{}, "rooms")
  return list.count(rooms) --! plan_wrong_kind
end

--# sorted rooms in their record
function run()
  local rooms = must(clinic.rooms{}, "rooms")
  local sorted = list.sort_by(rooms, "beds", "desc") --! plan_wrong_kind
  return sorted[1]
end

--# the record of rooms joined
function run()
  local rooms = must(clinic.rooms{}, "rooms")
  return table.concat(rooms, ", ") --! plan_wrong_kind
end

--# a list of notes in a text
function run()
  local appointments = must(clinic.list_appointments{}, "appointments")
  return "Notes: " .. appointments[1].notes --! plan_wrong_kind
end

--# a definition in a text
function run()
  local lines = {}
  for _, appointment in ipairs(must(clinic.list_appointments{})) do
    lines[#lines + 1] = appointment.kind .. " of " .. appointment.patient --! plan_wrong_kind
  end
  return table.concat(lines, "\n")
end

--# a wrong field of a definition
function run()
  local cities = {}
  for _, appointment in ipairs(must(clinic.list_appointments{})) do
    cities[#cities + 1] = appointment.patient.nam --! plan_unknown_field
  end
  return cities
end

--# a wrong field of a record put together
function run()
  local patient = must(clinic.find_patient{name = "Ada"}, "Ada")
  return patient.adress.city --! plan_unknown_field
end

--# a wrong field of a nested definition
function run()
  local patient = must(clinic.find_patient{name = "Ada"}, "Ada")
  return "in " .. patient.address.town --! plan_unknown_field
end

--# a loop over a nested definition
function run()
  local patient = must(clinic.find_patient{name = "Ada"}, "Ada")
  local lines = {}
  for _, line in ipairs(patient.address) do lines[#lines + 1] = line end --! plan_wrong_kind
  return table.concat(lines, ", ")
end

--# a loop over a node of a tree
function run()
  local tree = must(clinic.tree{}, "departments")
  local names = {}
  for _, part in ipairs(tree) do names[#names + 1] = part.name end --! plan_wrong_kind
  return names
end

--# a loop over a part of a tree
function run()
  local tree = must(clinic.tree{}, "departments")
  local names = {}
  for _, part in ipairs(tree.parts) do
    for _, inner in ipairs(part) do names[#names + 1] = inner.name end --! plan_wrong_kind
  end
  return names
end

--# a loop over a number
function run()
  local n = 0
  for _ in ipairs(must(clinic.count{}, "count")) do n = n + 1 end --! plan_wrong_kind
  return n
end

--# an argument outside its definition
function run()
  return #must(clinic.list_appointments{day = "sunday"}, "sunday") --! plan_bad_argument
end

--# an argument of another kind than its definition
function run()
  local day = 1
  return #must(clinic.list_appointments{day = day}, "monday") --! plan_bad_argument
end

--# a wrapped list where nothing is unwrapped
--# server: never
function run()
  local appointments = must(clinic.list_appointments{}, "appointments")
  return "You have " .. #appointments .. " appointments" --! plan_wrong_kind
end

--# a loop over a wrapped list where nothing is unwrapped
--# server: never
function run()
  local names = {}
  for _, appointment in ipairs(clinic.list_appointments{}) do --! plan_wrong_kind
    names[#names + 1] = appointment.patient.name
  end
  return names
end

--# a wrapped number where nothing is unwrapped
--# server: never
function run()
  return "There are " .. must(clinic.count{}, "count") --! plan_wrong_kind
end

--# the member of a sole record where any is unwrapped
--# server: always
function run()
  local answer = must(clinic.rooms{}, "rooms")
  return #answer.rooms --! plan_unknown_field
end

--# the next of two pages taken as a list
function run()
  local first, second = clinic.page{}, clinic.page{name = "2"}
  if first.error or second.error then return "failed" end
  return #first.items + #second --! plan_wrong_kind
end
