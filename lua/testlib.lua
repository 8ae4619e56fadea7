-- The functions of plan tests: test, mock, mock_defaults, mock_generated, failure, run_plan, run_fixture, expect.
-- The host joins the lines of this file into one, so that line numbers of a test file stay true:
-- a comment here has a line of its own, and no string runs over a line's end. For the same reason
-- every error raised here names the line of the caller, never its own: see `fail`.

local tests, file_mocks, mocks = {}, {}, {}
local is_inside_test = false
-- The source of answers where no mock fits: nil, "defaults", or the seed of generated answers.
local file_otherwise, otherwise

-- Raises in the function that called the function that calls this.
local function fail(message)
  error(message, 3)
end

local function describe(value)
  return value == null and "null" or type(value)
end

local function unknown_key(given, known)
  for key in pairs(given) do
    if not list.contains(known, key) then return tostring(key) end
  end
end

local function some(items)
  if #items == 0 then return list.empty() end
  return items
end

function test(name, body)
  if type(name) ~= "string" or text.is_blank(name) then fail("test: the name must be text, got " .. describe(name)) end
  if type(body) ~= "function" then fail("test '" .. name .. "': a function must follow the name, got " .. describe(body)) end
  if is_inside_test then fail("test '" .. name .. "' is inside another test") end
  for _, known in ipairs(tests) do
    if known.name == name then fail("there are two tests named '" .. name .. "'") end
  end
  tests[#tests + 1] = { name = name, body = body }
end

local MOCK_KEYS = { "when", "returns", "fails", "delay_ms", "sequence" }

function mock(tool, answer)
  if type(tool) ~= "string" then fail("mock: the tool's name must be text, got " .. describe(tool)) end
  if type(answer) ~= "table" or answer == null then
    fail("mock of " .. tool .. ": expected {returns = …}, {fails = …} or {sequence = …}, got " .. describe(answer))
  end
  local unknown = unknown_key(answer, MOCK_KEYS)
  if unknown then
    fail("mock of " .. tool .. ": unknown key '" .. unknown .. "'; it takes " .. table.concat(MOCK_KEYS, ", "))
  end
  if answer.returns == nil and answer.fails == nil and answer.sequence == nil then
    fail("mock of " .. tool .. ": no answer; give returns, fails or sequence")
  end
  local copy = { tool = tool }
  for _, key in ipairs(MOCK_KEYS) do copy[key] = answer[key] end
  mocks[#mocks + 1] = copy
end

function mock_defaults()
  otherwise = "defaults"
end

function mock_generated(options)
  if options ~= nil and (type(options) ~= "table" or options == null) then fail("mock_generated: expected {seed = …}, got " .. describe(options)) end
  local unknown = unknown_key(options or {}, { "seed" })
  if unknown then fail("mock_generated: unknown option '" .. unknown .. "'; it takes seed") end
  local wanted = options and options.seed or 1
  if math.type(wanted) ~= "integer" then fail("mock_generated: the seed must be a whole number, got " .. describe(wanted)) end
  otherwise = wanted
end

function clear_mocks()
  mocks, file_mocks, otherwise, file_otherwise = {}, {}, nil, nil
end

function failure(code, facts)
  if type(code) ~= "string" then fail("failure: the code must be text, got " .. describe(code)) end
  local injected = { code = code }
  for key, value in pairs(facts or {}) do injected[key] = value end
  return { ["$fails"] = injected }
end

-- The first that fits answers: mocks with 'when' go before those without, and later ones before earlier.
local function ordered(level)
  local newest = list.reverse(level)
  local special, general = list.partition(newest, function(mocked) return mocked.when ~= nil end)
  return list.concat(special, general)
end

local function ask(name, context, fixture, options)
  options = options or {}
  local unknown = unknown_key(options, { "limits", "now" })
  if unknown then error(name .. ": unknown option '" .. unknown .. "'; it takes limits, now", 3) end
  local ok, outcome = pcall(testkit_run_plan, {
    context = context,
    fixture = fixture,
    mocks = some(list.concat(ordered(mocks), ordered(file_mocks))),
    otherwise = otherwise or file_otherwise,
    limits = options.limits,
    now = options.now,
  })
  if not ok then error(name .. ": " .. string.gsub(string.gsub(tostring(outcome), "^.-:%d+: ", ""), "testkit_run_plan%.", ""), 3) end
  if outcome.refused then error("the plan could not be run: " .. outcome.refused, 3) end
  return outcome
end

function run_plan(context, options)
  if context ~= nil and type(context) ~= "table" then fail("run_plan: the context must be a table, got " .. describe(context)) end
  local outcome = ask("run_plan", context, nil, options)
  return outcome
end

function run_fixture(name, options)
  if type(name) ~= "string" then fail("run_fixture: the name of a file beside the test must be text, got " .. describe(name)) end
  local outcome = ask("run_fixture", nil, name, options)
  return outcome
end

local SHOWN = 400

local function show(value, depth)
  depth = depth or 0
  if type(value) == "string" then
    local shown = #value > SHOWN and string.sub(value, 1, SHOWN) .. "…" or value
    return '"' .. string.gsub(string.gsub(shown, '"', '\\"'), "\n", "\\n") .. '"'
  end
  if type(value) ~= "table" or value == null then return tostring(value) end
  if depth > 3 then return "{…}" end
  local parts = {}
  for key, item in pairs(value) do
    local label = type(key) == "number" and "" or tostring(key) .. " = "
    parts[#parts + 1] = label .. show(item, depth + 1)
    if #parts == 12 then parts[#parts + 1] = "…" break end
  end
  return "{" .. table.concat(parts, ", ") .. "}"
end

-- A null member reads as nil, so a test may write null for an absent value.
local function absent_if_null(value)
  if value == null then return nil end
  return value
end

local function step(path, key)
  return path .. (type(key) == "number" and "[" .. key .. "]" or "." .. tostring(key))
end

local function difference(actual, expected, path)
  actual, expected = absent_if_null(actual), absent_if_null(expected)
  if type(actual) ~= "table" or type(expected) ~= "table" then
    if actual == expected then return nil end
    return path .. " is " .. show(actual) .. ", expected " .. show(expected)
  end
  for key, item in pairs(expected) do
    local found = difference(actual[key], item, step(path, key))
    if found then return found end
  end
  for key, item in pairs(actual) do
    if expected[key] == nil and absent_if_null(item) ~= nil then
      return step(path, key) .. " is " .. show(item) .. ", expected nothing"
    end
  end
  return nil
end

-- The rule of `when`: tables may have more than the pattern, lists may not.
local function covers(actual, wanted)
  if type(wanted) ~= "table" or wanted == null then return actual == wanted end
  if type(actual) ~= "table" or actual == null then return false end
  if list.is_list(wanted) and #actual ~= #wanted then return false end
  for key, item in pairs(wanted) do
    if not covers(actual[key], item) then return false end
  end
  return true
end

local function is_run(run)
  return type(run) == "table" and run ~= null and type(run.status) == "string" and type(run.calls) == "table"
end

local function want_run(run, name)
  if not is_run(run) then error("expect." .. name .. ": the first argument must be what run_plan gave, got " .. describe(run), 3) end
end

local function calls_of(run, tool, with)
  local found = {}
  for _, call in ipairs(run.calls) do
    local fits = with == nil or next(with) == nil or covers(call.arguments, with)
    if call.tool == tool and fits then found[#found + 1] = call end
  end
  return found
end

local function made(run)
  local names = {}
  for _, call in ipairs(run.calls) do names[#names + 1] = call.tool .. " " .. show(call.arguments) end
  return #names == 0 and "no calls were made" or "calls made: " .. table.concat(names, "; ")
end

local function times(count)
  return count == 1 and "once" or count .. " times"
end

local function why(run)
  local problem = run.error or {}
  local message = string.gsub(tostring(problem.message), "^line %d+: ", "")
  local named = string.find(message, "of the plan", 1, true) or problem.code == "check_refused"
  local place = problem.line and not named and " at line " .. problem.line .. " of the plan" or ""
  return "the run " .. run.status .. " with " .. tostring(problem.code) .. place .. ": " .. message
end

expect = {}

function expect.equal(actual, expected, what)
  local found = difference(actual, expected, what or "value")
  if found then fail(found) end
end

function expect.not_equal(actual, unwanted, what)
  if not difference(actual, unwanted, "value") then fail((what or "value") .. " is " .. show(actual) .. ", expected anything else") end
end

function expect.near(actual, expected, tolerance, what)
  if type(actual) ~= "number" then fail((what or "value") .. " is " .. show(actual) .. ", expected a number") end
  if math.abs(actual - expected) > (tolerance or 1e-9) then
    fail((what or "value") .. " is " .. show(actual) .. ", expected " .. show(expected) .. " within " .. (tolerance or 1e-9))
  end
end

function expect.truthy(value, what)
  if value == nil or value == false or value == null then fail((what or "value") .. " is " .. show(value) .. ", expected something") end
end

function expect.falsy(value, what)
  if value ~= nil and value ~= false and value ~= null then fail((what or "value") .. " is " .. show(value) .. ", expected nothing") end
end

function expect.contains(whole, part)
  if type(whole) == "table" and whole ~= null then
    for _, item in pairs(whole) do
      if not difference(item, part, "") then return end
    end
    fail(show(whole) .. " does not contain " .. show(part))
  end
  if type(whole) ~= "string" then fail("expected text or a list, got " .. show(whole)) end
  if type(part) ~= "string" then fail("the part must be text, got " .. show(part)) end
  if not string.find(whole, part, 1, true) then fail(show(whole) .. " does not contain " .. show(part)) end
end

function expect.matches(whole, pattern)
  if type(whole) ~= "string" then fail("expected text, got " .. show(whole)) end
  if not string.find(whole, pattern) then fail(show(whole) .. " does not match the pattern " .. show(pattern)) end
end

function expect.raises(body, part)
  if type(body) ~= "function" then fail("expect.raises: expected a function, got " .. describe(body)) end
  local ok, problem = pcall(body)
  if ok then fail("nothing was raised") end
  if part and not string.find(tostring(problem), part, 1, true) then
    fail("raised " .. show(tostring(problem)) .. ", which does not contain " .. show(part))
  end
end

function expect.succeeded(run)
  want_run(run, "succeeded")
  if run.status ~= "succeeded" then fail(why(run)) end
end

function expect.failed(run, code, part)
  want_run(run, "failed")
  if run.status ~= "failed" then fail("the run " .. run.status .. ", expected it to fail") end
  if code and run.error.code ~= code then fail(why(run) .. "; expected " .. code) end
  if part and not string.find(run.error.message, part, 1, true) then
    fail(why(run) .. "; expected a message with " .. show(part))
  end
end

function expect.as_recorded(run)
  want_run(run, "as_recorded")
  if type(run.differences) ~= "table" then fail("expect.as_recorded: the run must be what run_fixture gave") end
  if #run.differences > 0 then fail(table.concat(run.differences, "; ")) end
end

function expect.printed(run, part)
  want_run(run, "printed")
  if not string.find(run.printed, part, 1, true) then fail("the plan printed " .. show(run.printed) .. ", which does not contain " .. show(part)) end
end

function expect.called(run, tool, options)
  want_run(run, "called")
  options = options or {}
  local unknown = unknown_key(options, { "with", "times" })
  if unknown then fail("expect.called: unknown option '" .. unknown .. "'; it takes with, times") end
  local count = #calls_of(run, tool, options.with)
  local wanted = options.with and " with " .. show(options.with) or ""
  if options.times and count ~= options.times then
    fail(tool .. " was called " .. times(count) .. wanted .. ", expected " .. times(options.times) .. "; " .. made(run))
  end
  if count == 0 and options.times == nil then fail(tool .. " was not called" .. wanted .. "; " .. made(run)) end
end

function expect.not_called(run, tool, options)
  want_run(run, "not_called")
  options = options or {}
  local unknown = unknown_key(options, { "with" })
  if unknown then fail("expect.not_called: unknown option '" .. unknown .. "'; it takes with") end
  local count = #calls_of(run, tool, options.with)
  if count > 0 then fail(tool .. " was called " .. times(count) .. ", expected never; " .. made(run)) end
end

function expect.calls(run, tools)
  want_run(run, "calls")
  local names = {}
  for _, call in ipairs(run.calls) do names[#names + 1] = call.tool end
  local found = difference(names, tools, "calls")
  if found then fail(found .. "; " .. made(run)) end
end

function calls(run, tool, with)
  if not is_run(run) then fail("calls: the first argument must be what run_plan gave, got " .. describe(run)) end
  return calls_of(run, tool, with)
end

function run(context)
  if context.select == nil then
    local names = {}
    for index, known in ipairs(tests) do names[index] = known.name end
    return some(names)
  end
  -- Mocks of the file outside of its tests answer after a test's own.
  file_mocks, mocks, file_otherwise, otherwise = mocks, {}, otherwise, nil
  is_inside_test = true
  tests[context.select].body()
  return "passed"
end
