--# an untyped record as a list
--# ends: record_used_as_list
function run()
  local n = 0
  for _ in ipairs(clinic.untyped{}) do n = n + 1 end
  return "You have " .. n .. " appointments"
end

--# a map over an untyped record
--# ends: record_used_as_list
function run()
  return list.map(must(clinic.untyped{}, "appointments"), "id")
end

--# an untyped record through a helper
--# ends: record_used_as_list
local function names_of(appointments)
  local names = {}
  for _, appointment in ipairs(appointments) do names[#names + 1] = appointment.patient.name end
  return names
end

function run()
  return names_of(clinic.untyped{})
end

--# an untyped record counted by the library
--# ends: record_used_as_list
function run()
  return {count = list.count(clinic.untyped{})}
end

--# an untyped record summed
--# ends: record_used_as_list
function run()
  return stats.sum(clinic.untyped{}, "minutes")
end

--# an untyped record sorted
--# ends: record_used_as_list
function run()
  local appointments = clinic.untyped{}
  table.sort(appointments, function(a, b) return a.id < b.id end)
  return appointments
end

--# a table by days as a list
--# ends: record_used_as_list
function run()
  local days = must(clinic.by_day{}, "days")
  local n = 0
  for _, appointments in ipairs(days) do n = n + #appointments end
  return n
end

--# must of a failed call
--# ends: must_failed
function run()
  local appointments = must(clinic.broken{}, "the appointments")
  return #appointments
end

--# a failed call as a list
--# ends: tool_error_used
function run()
  local n = 0
  for _ in ipairs(clinic.broken{}) do n = n + 1 end
  return n
end

--# a record in a field of its own name
--# ends: record_used_as_list
function run()
  local all = {appointments = clinic.untyped{}}
  local n = 0
  for _ in ipairs(all.appointments) do n = n + 1 end
  return n
end

--# a member that the schema does not have
--# ends: tool_error_used
function run()
  return clinic.liar{} + 1
end

--# an untyped record unpacked
--# ends: record_used_as_list
function run()
  local first = table.unpack(clinic.untyped{})
  return first and first.id or "none"
end

--# a number taken for a record
--# ends: plan_error
function run()
  local answer = clinic.count{}
  return answer.result
end
