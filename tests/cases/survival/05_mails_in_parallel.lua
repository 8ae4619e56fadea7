-- Two mails and a reader at once.
function run(context)
  local a, b, rows = parallel{
    function() return send_email("admin@company.com", "left", "l") end,
    function() return send_email("admin@company.com", "right", "r") end,
    function() return query_db{ table = "users" } end,
  }
  return { a = a.error == nil, b = b.error == nil, rows = #rows }
end
