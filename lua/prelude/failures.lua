-- Strict error values: the results of failed calls.
--
-- A strict error value is an empty table with a protected metatable; `records` holds its data. Reading
-- `.error`, `.code`, `.retryable` or a detail inspects it. Every other use raises `tool_error_used`,
-- and a value that the plan never inspected fails the run at its end.

local host, core = ...
local ipairs = ipairs

local records = {} -- strict error value -> record; strong, for calls are counted and limited
local order = {} -- the records as they came

local function describe(record)
  local place = record.line and (", line " .. record.line) or ""
  return "call " .. record.call .. " (" .. record.tool .. place .. ") failed: " .. record.error
end

local function misuse(record)
  host.raise("tool_error_used", record.text .. "; test `.error` before using the result", record.call)
end

local function used(left, right)
  misuse(records[left] or records[right])
end

local metatable = { __metatable = false }
for _, event in ipairs({
  "newindex", "len", "call", "concat", "pairs", "eq", "lt", "le", "unm", "add", "sub", "mul", "div", "mod",
  "pow", "idiv", "band", "bor", "bxor", "shl", "shr", "bnot", "close",
}) do
  metatable["__" .. event] = used
end

function metatable.__index(failure, key)
  local record = records[failure]
  local value
  if key == "error" or key == "code" or key == "retryable" then
    value = record[key]
  elseif key ~= nil then
    value = record.details[key]
  end
  if value == nil then
    misuse(record)
  end
  record.looked = true
  return value
end

function metatable.__tostring(failure)
  local record = records[failure]
  record.looked = true
  return record.text
end

local function create(message, code, retryable, details, call, tool, line)
  local failure = {}
  local record = {
    error = message, code = code, retryable = retryable, details = details,
    call = call or "?", tool = tool or "?", line = line, looked = false,
  }
  record.branch = core.branch
  record.text = describe(record)
  records[failure] = record
  order[#order + 1] = record
  return core.setmetatable(failure, metatable)
end

-- The value of a step that failed or was skipped. `call` is the failed call it comes from, where there is one.
function core.step_failure(name, code, message, cause, call, line)
  local failure = create(message, code, false, { step = name, cause = cause }, nil, nil, line)
  local record = records[failure]
  record.call, record.tool, record.step = call, nil, name
  record.text = message
  return failure
end

core.records = records
core.misuse = misuse

-- The number of failures so far; and: marks the failures after the first `count` as handled, if they came
-- in this branch of `parallel` or in branches it made. Other branches handle their own.
function core.failure_count()
  return #order
end

function core.forgive_after(count)
  local here = core.branch
  for place = count + 1, #order do
    local branch = order[place].branch
    while branch and branch ~= here do
      branch = branch.parent
    end
    if branch == here then
      order[place].looked = true
    end
  end
end

local function unlooked()
  local list = {}
  for _, record in ipairs(order) do
    if not record.looked then
      list[#list + 1] = record
    end
  end
  return list
end

return metatable, records, create, unlooked
