-- A branch changes what another branch has sent: what was sent stays sent.
-- expect: result: ["sent","changed"]
function run()
  local t = { "sent" }
  local r = parallel({ function() return echo(t) end, function() t[1] = "changed" return echo(1) end })
  return { r[1][1], t[1] }
end
