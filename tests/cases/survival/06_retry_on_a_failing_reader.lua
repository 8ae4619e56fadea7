-- A step is tried again and fails each time; a mail says so.
function run(context)
  local tries = 0
  local ok = pcall(function()
    return retry(3, function()
      tries = tries + 1
      local rows = query_db{ table = "missing" }
      if rows.error then error("no table: " .. rows.code) end
      return rows
    end)
  end)
  local receipt = send_email("admin@company.com", "gave up", "after " .. tries)
  return { ok = ok, tries = tries, told = receipt.error == nil }
end
