-- `step`: a named part of a plan, run once the steps it depends on are complete.
--
-- Each change of a step's state is reported to the host, which takes the reports at the next pause.

local host, core = ...
local records, caught, raise, report, line_of = core.records, host.caught, host.raise, host.report, host.line_of
local ordered_keys, null = core.ordered_keys, host.null

local stock_type, stock_pcall, rawget, rawlen, rawequal = core.stock_type, core.stock_pcall, rawget, rawlen, rawequal
local pack, unpack, number_kind, tostring = table.pack, table.unpack, math.type, tostring
local find, utf8_len, retry = string.find, utf8.len, retry

-- The host knows the same numbers.
local NAME_BYTES_MAX, DEPENDS_MAX, RETRIES_MAX = 100, 32, 9

local RUNNING, COMPLETE, FAILED, SKIPPED = "running", "complete", "failed", "skipped"
local states = {} -- name -> state

local function wrong(message)
  raise("step_invalid", message)
end

local function kind_of(value)
  local record = value ~= nil and records[value]
  if record then
    core.misuse(record)
  end
  return stock_type(value)
end

local function check_name(name)
  local kind = kind_of(name)
  if kind ~= "string" then
    wrong("a step's name is a text, got a " .. kind)
  elseif #name == 0 or #name > NAME_BYTES_MAX then
    wrong("a step's name has from 1 to " .. NAME_BYTES_MAX .. " bytes, got " .. #name)
  elseif find(name, "%c") or not utf8_len(name) then
    wrong("a step's name is UTF-8 without control characters")
  end
end

local function read_depends_on(name, value)
  local kind = kind_of(value)
  if kind == "nil" or rawequal(value, null) then
    return {}
  elseif kind == "string" then
    return { value }
  elseif kind ~= "table" then
    wrong("`depends_on` of step `" .. name .. "` is a list of names, got a " .. kind)
  end
  local names, count = {}, rawlen(value)
  if count > DEPENDS_MAX then
    wrong("step `" .. name .. "` depends on " .. count .. " steps; the most are " .. DEPENDS_MAX)
  end
  for place = 1, count do
    local needed = rawget(value, place)
    check_name(needed)
    names[place] = needed
  end
  return names
end

local function read_options(name, options)
  local kind = kind_of(options)
  if kind == "nil" then
    return {}, 0
  elseif kind ~= "table" then
    wrong("the options of step `" .. name .. "` are a table, got a " .. kind)
  end
  local keys, count = ordered_keys(options)
  for place = 1, count do
    local key = keys[place]
    if key ~= "depends_on" and key ~= "retries" then
      wrong("a step has the options depends_on and retries, not `" .. tostring(key) .. "`")
    end
  end
  local retries = rawget(options, "retries")
  if retries == nil then
    retries = 0
  elseif number_kind(retries) ~= "integer" or retries < 0 or retries > RETRIES_MAX then
    wrong("`retries` of step `" .. name .. "` is a whole number from 0 to " .. RETRIES_MAX)
  end
  return read_depends_on(name, rawget(options, "depends_on")), retries
end

-- The first step that keeps `name` from running.
local function unmet(name, depends_on)
  local found
  for place = 1, #depends_on do
    local needed = depends_on[place]
    local state = states[needed]
    if not state then
      wrong("step `" .. name .. "` depends on `" .. needed .. "`, and no step before it has that name")
    elseif state == RUNNING then
      wrong("step `" .. name .. "` depends on `" .. needed .. "`, which is still running")
    elseif state ~= COMPLETE then
      found = found or needed
    end
  end
  return found
end

-- step(name, f, {depends_on = {name, ...}, retries = n}): what f returns, or a strict error value where the step
-- failed or was skipped.
function step(name, f, options)
  check_name(name)
  local kind = kind_of(f)
  if kind ~= "function" then
    wrong("step `" .. name .. "` expects a function, got a " .. kind .. "; wrap the call: function() return ... end")
  end
  local depends_on, retries = read_options(name, options)
  if states[name] then
    wrong("there is a step `" .. name .. "` before; give each step a name of its own")
  end
  local needed = unmet(name, depends_on)
  local line = not core.tools[f] and line_of(f) or nil
  local attempts, attempts_max = 0, retries + 1
  if needed then
    states[name] = SKIPPED
    local has_failed = states[needed] == FAILED
    local message = "step `" .. name .. "` was skipped, as step `" .. needed .. "` "
      .. (has_failed and "failed" or "was skipped")
    report(SKIPPED, name, line, attempts, attempts_max, "step_skipped", message, unpack(depends_on))
    return core.step_failure(name, "step_skipped", message, has_failed and "step_failed" or "step_skipped", nil, line)
  end
  states[name] = RUNNING
  report(RUNNING, name, line, attempts, attempts_max, nil, nil, unpack(depends_on))
  local failures_before = core.failure_count()
  local got = pack(stock_pcall(retry, attempts_max, function()
    attempts = attempts + 1
    return f()
  end))
  local problem = got[2]
  if not got[1] then
    problem = caught(problem)
  end
  local record = problem ~= nil and records[problem]
  if got[1] and not record then
    states[name] = COMPLETE
    report(COMPLETE, name, line, attempts, attempts_max)
    return unpack(got, 2, got.n)
  end
  local message, cause, call
  if record then
    record.looked = true
    message, cause, call = record.text, record.code, record.call
  else
    message = stock_type(problem) == "string" and problem or "an error value was raised"
  end
  states[name] = FAILED
  core.forgive_after(failures_before)
  -- The host knows the code of what was raised.
  cause = report(FAILED, name, line, attempts, attempts_max, cause, message)
  return core.step_failure(name, "step_failed", "step `" .. name .. "` failed: " .. message, cause, call, line)
end
