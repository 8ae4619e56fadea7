-- Checks of arguments for the Lua parts of the library. `name` is the function's full name, for the
-- message.
local _ENV = ...

local checks = {}

-- The kind of a value, for messages.
function checks.kind(value)
  if value == null then return "null" end
  return type(value)
end

function checks.need_table(name, index, what, value)
  if type(value) ~= "table" then
    fail(name .. ": argument " .. index .. " (" .. what .. ") must be a table, got " .. checks.kind(value))
  end
  return #value
end

-- A table that came in with named members is no list, though its length is 0.
function checks.need_list(name, index, what, value)
  local count = checks.need_table(name, index, what, value)
  if count == 0 then ipairs(value, name) end
  return count
end

function checks.need_function(name, index, what, value)
  if type(value) ~= "function" then
    fail(name .. ": argument " .. index .. " (" .. what .. ") must be a function, got " .. checks.kind(value))
  end
end

-- A whole number, from a number or numeric text; `default` for nil.
function checks.need_integer(name, index, what, value, default)
  if value == nil and default ~= nil then return default end
  local number = tointeger(tonumber(value))
  if not number then
    fail(name .. ": argument " .. index .. " (" .. what .. ") must be a whole number, got " .. checks.kind(value))
  end
  return number
end

-- What picks something from an item: a function, or the name of a member.
function checks.picker(name, index, key)
  local what = type(key)
  if what == "function" then return key end
  if what == "string" or what == "number" then
    return function(item, position)
      if type(item) ~= "table" then
        fail(name .. ": item " .. position .. " has no members, it is " .. checks.kind(item))
      end
      return item[key]
    end
  end
  fail(name .. ": argument " .. index .. " (key) must be a name or a function, got " .. checks.kind(key))
end

-- A test: a function, or a table of members that must be equal.
function checks.tester(name, index, test)
  if type(test) == "function" then return test end
  if type(test) ~= "table" then
    fail(name .. ": argument " .. index .. " (test) must be a function or a table of members, got " .. checks.kind(test))
  end
  return function(item)
    if type(item) ~= "table" then return false end
    for key, value in pairs(test) do
      if item[key] ~= value then return false end
    end
    return true
  end
end

-- Raises where a value is of another kind than the first one; gives the first kind and its place.
function checks.one_kind(name, first_kind, first_place, value, place)
  local found = type(value)
  if first_kind == nil then return found, place end
  if found ~= first_kind then
    fail(name .. ": item " .. first_place .. " is a " .. first_kind .. " and item " .. place .. " a " .. found ..
      "; make them one kind, as with tonumber")
  end
  return first_kind, first_place
end

-- Values that can be a table key; NaN and nil cannot.
function checks.usable(key)
  return key ~= nil and key ~= null and key == key
end

return checks
