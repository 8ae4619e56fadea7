-- Branches that each make several calls.
function run(context)
  local function branch(name)
    return function()
      local rows = query_db{ table = "users", where = "age > 25" }
      local receipt = send_email("admin@company.com", "branch " .. name, tostring(#rows))
      return receipt.error == nil
    end
  end
  local a, b, c = parallel{ branch("a"), branch("b"), branch("c") }
  return { a = a, b = b, c = c }
end
