-- Joins the parts, sets the globals that a plan may see, and returns the functions that the host calls.

local host, load_failures, load_values, load_control, load_tools, load_library, load_tables, load_patterns, load_steps = ...
local globals = _G

local core = {
  tools = {},
  setmetatable = setmetatable, getmetatable = getmetatable, stock_type = type, stock_pcall = pcall,
  create = coroutine.create, resume = host.resume or coroutine.resume, yield = coroutine.yield, running = coroutine.running,
  -- While the VM is made nothing is metered yet, so an engine's natives may not work.
  stock_match = string.match or host.native.match,
}
local xpcall, running, rawget, rawequal, getmetatable = xpcall, coroutine.running, rawget, rawequal, getmetatable

function core.is_shaped(container)
  local metatable = getmetatable(container)
  return core.stock_type(metatable) == "table" and rawequal(rawget(metatable, 1), host.mark)
end

local metatable, records, create, unlooked = load_failures(host, core)

-- A plan's strings keep their methods; the table of the methods stays out of reach.
getmetatable("").__metatable = false

for _, name in ipairs({
  "collectgarbage", "dofile", "load", "loadfile", "loadstring", "require", "package", "warn", "debug", "os", "io",
}) do
  globals[name] = nil
end
string.dump = nil
math.random, math.randomseed = nil, nil
-- Functions of older Lua that the build may include; they are not part of Lua 5.4.
for _, name in ipairs({ "atan2", "cosh", "frexp", "ldexp", "log10", "pow", "sinh", "tanh" }) do
  math[name] = nil
end

-- First, so that the other parts too search with natives, which charge.
load_patterns(host, core)
load_values(host, core)
load_control(host, core)
load_tools(host, core)
load_library(host, core)
load_tables(host, core)
load_steps(host, core)
core.concat = table.concat
globals.null = host.null

-- A run that returns nothing leaves the context as it stands.
local function body(chunk, context)
  chunk()
  local run = rawget(globals, "run")
  if core.stock_type(run) ~= "function" then
    return "no_run"
  end
  local result = run(context)
  if result == nil then
    result = context
  end
  return "done", result
end

local function main(chunk, context)
  core.main = running()
  -- Not in tail position: one instruction more would run there where the plan paused.
  local ok, outcome, result = xpcall(body, host.unwound, chunk, context)
  return ok, outcome, result
end

local function add_tools(names)
  core.add_tools(globals, names)
end

return metatable, records, create, unlooked, main, add_tools
