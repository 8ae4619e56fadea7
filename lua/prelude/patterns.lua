-- The pattern functions of the string library. Natives search; functions that call back into the plan
-- are written here, so that a callback may call tools.

local host, core = ...
local native = host.native
local stock_type, error = core.stock_type, error
local gmatch, gmatch_step, gsub, gsub_step, sub =
  native.gmatch, native.gmatch_step, native.gsub, native.gsub_step, native.sub

string.find, string.match, string.rep = native.find, native.match, native.rep

function string.gmatch(...)
  local text, pattern, place = gmatch(...)
  local last
  local function advance(stop, ...)
    if stop then
      place, last = stop, stop
      return ...
    end
  end
  return function()
    return advance(gmatch_step(text, pattern, place, last))
  end
end

-- `string.gsub` with a function or a table.
local function replace_each(text, pattern, most, replacement, is_function)
  local parts, filled, copied = {}, 0, 0
  local count, place, last = 0, 0, nil

  local function replace(from, to, ...)
    if not from then
      return false
    end
    count, place, last = count + 1, to, to
    local value
    if is_function then
      value = replacement(...)
    else
      value = replacement[(...)]
    end
    if value then
      local kind = stock_type(value)
      if kind ~= "string" and kind ~= "number" then
        error("invalid replacement value (a " .. kind .. ")", 4)
      end
      parts[filled + 1] = sub(text, copied + 1, from)
      filled = filled + 2
      parts[filled] = value
      copied = to
    end
    return true
  end

  while count < most and replace(gsub_step(text, pattern, place, last, not is_function)) do end
  if filled > 0 then
    parts[filled + 1] = sub(text, copied + 1)
    text = core.concat(parts, "", 1, filled + 1)
  end
  return text, count
end

function string.gsub(...)
  local _, _, replacement = ...
  local kind = stock_type(replacement)
  if kind == "function" or kind == "table" then
    local text, pattern, most = gsub(...)
    -- Not a tail call: an error's position is found by counting frames.
    local replaced, count = replace_each(text, pattern, most, replacement, kind == "function")
    return replaced, count
  end
  return gsub(...)
end
