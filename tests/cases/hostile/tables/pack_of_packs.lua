-- All that was packed is packed again with itself.
-- expect: limit_memory|limit_instructions|plan_error
function run()
  local t = table.pack(1)
  while true do t = table.pack(table.unpack(t, 1, t.n), table.unpack(t, 1, t.n)) t.n = #t end
end
