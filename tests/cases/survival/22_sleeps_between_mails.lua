function run(context)
  local first = send_email("admin@company.com", "before the sleep", "x")
  if first.error then return first.error end
  local both = parallel{
    function() return sleep(1.2) end,
    function() return query_db{ table = "users", limit = 1 } end,
  }
  if both[2].error then return both[2].error end
  local ok, woke = pcall(sleep, 0)
  local second = send_email("admin@company.com", "after the sleep", tostring(#both[2]))
  return second.error or { ok = ok, woke = woke.woke_at ~= nil, slept = both[1].woke_at ~= nil }
end
