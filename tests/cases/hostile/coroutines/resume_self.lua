-- A coroutine resumes itself.
-- expect: result: [false,"cannot resume non-suspended coroutine"]
function run()
  local co
  co = coroutine.create(function() return coroutine.resume(co) end)
  local _, ok, e = coroutine.resume(co)
  return { ok, e }
end
