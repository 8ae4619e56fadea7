-- Several readers at once, no effect at all.
function run(context)
  local old, young, all = parallel{
    function() return query_db{ table = "users", where = "age > 40" } end,
    function() return query_db{ table = "users", where = "age < 30" } end,
    function() return query_db("SELECT count(*) AS n FROM users") end,
  }
  return { old = #old, young = #young, all = all[1].n }
end
