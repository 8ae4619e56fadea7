-- Checks a CSV file before it is imported: every row must have an address, a real date and an amount.
-- Context: url of the file; separator (optional, ",").
-- Tools: fetch_url.
-- Leaves: rows (count), good (count), bad (list of row number and problems), ready.
local COLUMNS = { "email", "date", "amount" }

local function problems_of(row, seen)
  local problems = {}
  local email = text.lower(text.trim(row.email or ""))
  if not email:match("^[^%s@]+@[^%s@]+%.[^%s@]+$") then
    table.insert(problems, "email is not an address")
  elseif seen[email] then
    table.insert(problems, "email is also in row " .. seen[email])
  end
  if not date.valid(row.date or "") then
    table.insert(problems, "date is not a date")
  end
  local amount = tonumber(row.amount)
  if amount == nil or amount < 0 then
    table.insert(problems, "amount is not a number of at least 0")
  end
  return problems, email
end

function run(context)
  local body = retry(3, fetch_url, context.url)
  if type(body) ~= "string" then
    error("the file cannot be fetched: " .. body.error)
  end
  local ok, rows = pcall(csv.parse, body, { separator = context.separator or "," })
  if not ok then
    error("the file is not CSV: " .. rows)
  end
  for _, column in ipairs(COLUMNS) do
    if #rows > 0 and not list.any(rows, function(row) return row[column] ~= nil end) then
      error("the file has no column " .. column)
    end
  end

  local bad, seen = list.empty(), {}
  for index, row in ipairs(rows) do
    local problems, email = problems_of(row, seen)
    seen[email] = seen[email] or index
    if #problems > 0 then
      table.insert(bad, { row = index, problems = problems })
    end
  end
  context.rows, context.good, context.bad = #rows, #rows - #bad, bad
  context.ready = #rows > 0 and #bad == 0
  return context
end
