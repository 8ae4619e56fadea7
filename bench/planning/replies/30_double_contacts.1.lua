function run(context)
  local body = must(fetch_url("{web}/contacts.csv"), "the contacts could not be fetched")
  local first = text.lines(body)[1] or ""
  local rows = csv.parse(body, {separator = text.contains(first, ";") and ";" or ","})
  if #rows == 0 then
    context.answer = list.empty()
    return context
  end
  local column = list.find(list.keys(rows[1]), function(key) return text.contains(text.lower(key), "mail") end)
  if not column then
    error("contacts.csv has no column of addresses: " .. first)
  end

  local counts = {}
  for _, row in ipairs(rows) do
    local email = text.lower(text.trim(row[column] or ""))
    if email ~= "" then
      counts[email] = (counts[email] or 0) + 1
    end
  end
  context.answer = list.filter(list.keys(counts), function(email) return counts[email] > 1 end)
  return context
end
