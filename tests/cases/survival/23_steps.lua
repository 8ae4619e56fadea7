-- Named steps around reads, prints and mails; one fails after a retry and another is skipped.
function run(context)
  local users = step("load users", function()
    print("loading")
    return query_db{ table = "users", where = "age > 30" }
  end)
  local told = step("tell", function()
    local sent = send_email("admin@company.com", "steps 1", tostring(#users))
    if sent.error then
      return sent
    end
    return send_email("admin@company.com", "steps 2", tostring(#users))
  end, { depends_on = { "load users" } })
  local missing = step("load nothing", function()
    print("trying")
    error("there is nothing")
  end, { retries = 1 })
  local after = step("after nothing", function()
    return send_email("admin@company.com", "steps 3", "never")
  end, { depends_on = { "load nothing" } })
  local both = parallel{
    function() return step("left", function() return #query_db{ table = "users" } end) end,
    function() return step("right", function() return #query_db{ table = "users", where = "age > 40" } end) end,
  }
  return { told = told.error == nil, missing = missing.code, after = after.code, both = both }
end
