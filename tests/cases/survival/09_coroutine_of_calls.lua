-- Calls from inside the plan's own coroutine.
function run(context)
  local next_user = coroutine.wrap(function()
    for _, user in ipairs(query_db{ table = "users" }) do
      coroutine.yield(user)
    end
  end)
  local names = {}
  for user in next_user do
    names[#names + 1] = user.name
    if #names == 2 then
      local receipt = send_email("admin@company.com", "two", table.concat(names, ","))
      names.told = receipt.error == nil
    end
  end
  return { names = #names, told = names.told }
end
