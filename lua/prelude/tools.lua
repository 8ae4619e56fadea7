-- The tools as functions, `parallel`, `retry` and `must`.

local host, core = ...
local records, caught, SIGNAL = core.records, host.caught, host.mark
local request, take, raise, line_of, null = host.request, host.take, host.raise, host.line_of, host.null
local request_short, take_short = host.request_short or function() end, host.take_short or function() end
local can_pause, busy, branches, ordered_keys = core.can_pause, core.busy, core.branches, core.ordered_keys

local stock_type, stock_pcall, rawget, rawequal, error = core.stock_type, core.stock_pcall, rawget, rawequal, error
local create, resume, yield, running = core.create, core.resume, core.yield, core.running
local pack, unpack, select, match = table.pack, table.unpack, select, core.stock_match
local min, number_kind, tostring = math.min, math.type, tostring

-- The kind of pause follows SIGNAL. The host knows the same numbers.
local CALL, BATCH, WAIT = 1, 2, 3

-- Backoff of `retry`: doubles from the first to the last.
local WAIT_FIRST_MS, WAIT_LAST_MS, RETRY_MAX = 200, 5000, 10

local function tool(name)
  return function(...)
    if not can_pause() then
      raise("call_not_possible_here", "`" .. name .. "` was called where the plan cannot pause, for example "
        .. "in a `__tostring` metamethod; make the call before and use its result there")
    end
    local line = branches[running()]
    local ticket = request_short(line, name, ...) or request(line, name, ...)
    yield(SIGNAL, CALL)
    local is_there, answer = take_short(ticket)
    if is_there then
      return answer
    end
    return take(ticket)
  end
end

-- Puts the tools into the globals and remembers which functions they are.
function core.add_tools(globals, names)
  for place = 1, #names do
    local name = names[place]
    local server, member = match(name, "^([^.]+)%.(.+)$")
    local container, key = globals, name
    if server then
      container, key = rawget(globals, server), member
      if stock_type(container) ~= "table" then
        container = {}
        globals[server] = container
      end
    end
    local f = tool(name)
    if host.noting then
      f = host.noting(f)
    end
    core.tools[f] = name
    container[key] = f
  end
end

-- parallel{f, g, name = h}: runs the functions in parallel. Each round runs every branch to its next
-- call and passes all those calls to the host at once. Returns each branch's first result under the
-- branch's key. Once all branches are done, it raises the first error by order.
local function run_branches(threads, keys, count)
  local results, failed_place, reason = {}, nil, nil
  local left, outer, nodes = count, core.branch, {}
  for place = 1, count do
    nodes[place] = { parent = outer }
  end
  while left > 0 do
    local calls, wait_ms, wait = 0, -1, nil
    for place = 1, count do
      local co = threads[place]
      if co then
        busy[co] = nil
        core.branch = nodes[place]
        local got = pack(resume(co))
        core.branch = outer
        if got[1] and rawequal(got[2], SIGNAL) then
          busy[co] = true
          if got[3] ~= WAIT then
            calls = calls + 1
          elseif got[4] > wait_ms then
            wait_ms, wait = got[4], got
          end
        else
          threads[place] = false
          left = left - 1
          if got[1] then
            results[keys[place]] = got[2]
          else
            local problem = caught(got[2])
            if not failed_place or place < failed_place then
              failed_place, reason = place, problem
            end
          end
        end
      end
    end
    if calls > 0 then
      yield(SIGNAL, BATCH)
    end
    if wait then
      yield(unpack(wait, 2, wait.n))
    end
  end
  if failed_place then
    error(reason, 0)
  end
  return results
end

function parallel(...)
  local functions = ...
  if select("#", ...) ~= 1 or stock_type(functions) ~= "table" then
    error("parallel expects one table of functions: parallel{ function() ... end, ... }", 2)
  elseif records[functions] then
    core.misuse(records[functions])
  end
  local keys, count = ordered_keys(functions)
  local threads = {}
  for place = 1, count do
    local f = rawget(functions, keys[place])
    if stock_type(f) ~= "function" then
      error("parallel expects functions, but the value of `" .. tostring(keys[place]) .. "` is a "
        .. stock_type(f) .. "; wrap the call: function() return ... end", 2)
    end
    threads[place] = create(f)
    branches[threads[place]] = line_of(f)
  end
  return core.reachable(run_branches)(threads, keys, count)
end

-- retry(n, f, ...): calls f up to n times while it returns a retryable failure, or raises.
function retry(times, f, ...)
  if number_kind(times) ~= "integer" or times < 1 or times > RETRY_MAX or stock_type(f) ~= "function" then
    error("retry expects a number of attempts from 1 to " .. RETRY_MAX .. " and a function", 2)
  end
  local wait_ms = WAIT_FIRST_MS
  for attempt = 1, times do
    local failures_before = core.failure_count()
    local got = pack(stock_pcall(f, ...))
    local message
    if got[1] then
      local record = got[2] ~= nil and records[got[2]]
      if not record or not record.retryable or attempt == times then
        return unpack(got, 2, got.n)
      end
      message = record.error
    else
      local reason = caught(got[2])
      if attempt == times then
        error(reason, 0)
      end
      message = stock_type(reason) == "string" and reason or "an error value"
    end
    core.forgive_after(failures_before)
    if can_pause() then
      yield(SIGNAL, WAIT, wait_ms, attempt, times, message)
    end
    wait_ms = min(wait_ms * 2, WAIT_LAST_MS)
  end
end

-- must(result, what): the result; raises with `what` where the call failed or gave nothing.
function must(result, what)
  local record = result ~= nil and records[result]
  if not record and result ~= nil and not rawequal(result, null) then
    return result
  end
  local message = stock_type(what) == "string" and what or "a result is needed"
  if record then
    record.looked = true
    raise("must_failed", message .. ": " .. record.text, record.call)
  end
  raise("must_failed", message .. ": there is none (nil)")
end
