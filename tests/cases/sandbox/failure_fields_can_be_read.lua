-- result: ["it broke","fetch_failed",false,503,"call 1 (fail, line 4) failed: it broke"]
function run()
  -- reading any of these is looking
  local r = fail("it broke")
  return { r.error, r.code, r.retryable, r.status, tostring(r) }
end
