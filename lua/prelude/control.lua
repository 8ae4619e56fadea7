-- Protected calls and coroutines that pass calls outward and never swallow the end of a run.
--
-- A pause is a yield whose first value is SIGNAL, which only we hold. A yield of a plan's own coroutine
-- with that value is not the plan's: `coroutine.resume` passes it on to the host, and resumes the
-- coroutine when the host has answered.

local host, core = ...
local records, caught, SIGNAL = core.records, host.caught, host.mark

local stock_pcall, stock_type = pcall, core.stock_type
local stock_create, stock_close = coroutine.create, host.close or coroutine.close
local stock_resume = core.resume
local stock_status, running, yield, isyieldable =
  coroutine.status, coroutine.running, coroutine.yield, coroutine.isyieldable
local rawequal, error, select, setmetatable = rawequal, error, select, core.setmetatable

-- Coroutines that wait for the host, or are a branch of `parallel`: the plan may not resume them.
-- A branch is stored with the first line of its function.
local busy = {}
local branches = setmetatable({}, { __mode = "k" })
core.busy, core.branches = busy, branches

-- How many resumes between us and the host cannot be crossed by a yield.
local blocked = 0

function core.can_pause()
  return blocked == 0 and isyieldable()
end

local function unblock(...)
  blocked = blocked - 1
  return ...
end

local function or_raise(ok, ...)
  if ok then
    return ...
  end
  error((...), 0)
end

-- Gives `f`, or where the host cannot be reached, an `f` inside which every call is refused.
function core.reachable(f)
  if isyieldable() then
    return f
  end
  return function(...)
    blocked = blocked + 1
    return or_raise(unblock(stock_pcall(f, ...)))
  end
end

local function settle(ok, ...)
  if ok then
    return true, ...
  end
  return false, caught((...))
end

local function settle_tool(ok, ...)
  local record = ok and (...) ~= nil and records[(...)]
  if record then
    record.looked = true
  end
  return settle(ok, ...)
end

function pcall(...)
  if core.tools[(...)] then
    return settle_tool(stock_pcall(...))
  end
  return settle(stock_pcall(...))
end

-- Lua runs a message handler with the meter switched off, so ours runs after unwinding.
local function handled(handler, ok, ...)
  if ok then
    return true, ...
  end
  local reason = caught((...))
  local handled_well, answer = stock_pcall(handler, reason)
  if not handled_well then
    answer = caught(answer)
  end
  return false, answer
end

function xpcall(f, handler, ...)
  if stock_type(handler) ~= "function" then
    error("bad argument #2 to 'xpcall' (function expected, got " .. stock_type(handler) .. ")", 2)
  end
  return handled(handler, stock_pcall(f, ...))
end

local function settle_resume(co, ok, ...)
  if not ok then
    return false, caught((...))
  end
  if rawequal((...), SIGNAL) then
    busy[co] = true
    yield(...)
    busy[co] = nil
    return settle_resume(co, stock_resume(co))
  end
  return true, ...
end

local function resume(co, ...)
  if busy[co] or branches[co] then
    return false, "cannot resume non-suspended coroutine"
  end
  if isyieldable() then
    return settle_resume(co, stock_resume(co, ...))
  end
  blocked = blocked + 1
  return settle_resume(co, unblock(stock_resume(co, ...)))
end

local function refuse_other(name, ...)
  local got = select("#", ...) == 0 and "no value" or stock_type((...))
  error("bad argument #1 to '" .. name .. "' (thread expected, got " .. got .. ")", 3)
end

coroutine.resume = function(...)
  if stock_type((...)) ~= "thread" then
    refuse_other("resume", ...)
  end
  return resume(...)
end

local function deliver(co, ok, ...)
  if ok then
    return ...
  end
  local reason = ...
  if stock_status(co) ~= "dead" then
    error(reason, 2)
  end
  local closed, problem = stock_close(co)
  if not closed and not rawequal(problem, reason) then
    reason = caught(problem)
  end
  error(reason, 2) -- adds a position to text, as Lua does
end

coroutine.wrap = function(f)
  if stock_type(f) ~= "function" then
    error("bad argument #1 to 'wrap' (function expected, got " .. stock_type(f) .. ")", 2)
  end
  local co = stock_create(f)
  return function(...)
    return deliver(co, resume(co, ...))
  end
end

coroutine.close = function(...)
  local co = ...
  if stock_type(co) ~= "thread" then
    refuse_other("close", ...)
  elseif busy[co] or branches[co] then
    error("cannot close a coroutine that waits for a call", 2)
  end
  return settle(stock_close(co))
end

-- The plan runs in a coroutine of ours, as does each branch of `parallel`; the plan may not yield
-- from either.
local function is_ours(co)
  return rawequal(co, core.main) or branches[co]
end

coroutine.running = function()
  local co = running()
  return co, rawequal(co, core.main)
end

coroutine.isyieldable = function(...)
  local co = ...
  if select("#", ...) == 0 then
    co = running()
  end
  if is_ours(co) then
    return false
  end
  return isyieldable(...)
end

coroutine.yield = function(...)
  if is_ours(running()) then
    error("attempt to yield from outside a coroutine", 2)
  end
  return yield(...)
end
