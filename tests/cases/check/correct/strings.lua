--# method chains
function run(context)
  local raw = "  The QUICK brown Fox "
  return {clean = raw:lower():gsub("^%s+", ""):gsub("%s+$", ""):upper()}
end

--# format with every usual directive
function run(context)
  return {
    text = string.format("%5.2f|%-10s|%03d|%x|%q|%s|%%", 3.14159, "left", 7, 255, "quoted", true),
  }
end

--# patterns with captures
function run(context)
  local line = "2025-06-15 ERROR disk full on /dev/sda1"
  local day, level, rest = line:match("^(%d+%-%d+%-%d+)%s+(%u+)%s+(.*)$")
  return {day = day, level = level, rest = rest}
end

--# gmatch into a map
function run(context)
  local settings = {}
  for key, value in ("a=1;b=2;c=three"):gmatch("(%w+)=(%w+)") do
    settings[key] = tonumber(value) or value
  end
  return settings
end

--# gsub with a table and with a function
function run(context)
  local template = "Dear {name}, you owe {sum}."
  local filled = template:gsub("{(%w+)}", {name = "Ada", sum = "12 EUR"})
  local shouted = filled:gsub("%a+", function(word)
    if #word > 3 then return word:upper() end
  end)
  return {filled = filled, shouted = shouted}
end

--# long strings and escapes
function run(context)
  local html = [[
<table>
  <tr><td>%s</td></tr>
</table>]]
  local body = html:format(text.escape_html("a < b"))
  return {body = body, tab = "\t", quote = 'it\'s', unicode = "\u{e9}"}
end

--# concatenation of numbers
function run(context)
  local n = 3
  return {text = "There are " .. n .. " of " .. 10 // 3 .. " and " .. 1.5}
end

--# bytes and sub
function run(context)
  local s = "hello"
  local first = s:sub(1, 1):upper() .. s:sub(2)
  local sum = 0
  for i = 1, #s do sum = sum + s:byte(i) end
  return {first = first, sum = sum, last = s:sub(-1)}
end

--# a text built in a table
function run(context)
  local lines = {"# Report", ""}
  for i = 1, 3 do
    lines[#lines + 1] = ("- item %d"):format(i)
  end
  table.insert(lines, 1, "draft")
  return {markdown = table.concat(lines, "\n")}
end

--# x or empty
function run(context)
  local rows = query_db{table = "people"}
  if rows.error then return {error = rows.error} end
  local names = {}
  for _, row in ipairs(rows) do
    names[#names + 1] = (row.first or "") .. " " .. (row.last or "")
  end
  return {names = names}
end

--# comparing texts and dates as text
function run(context)
  local rows = query_db{table = "invoices", columns = {"number", "due"}}
  if rows.error then return {error = rows.error} end
  local today = context.today or "2025-06-15"
  local late = list.filter(rows, function(row) return row.due and row.due < today end)
  return {late = #late}
end

--# string rep and reverse
function run(context)
  return {line = ("-"):rep(20), back = string.reverse("abc"), n = ("abc"):len()}
end

--# utf8
function run(context)
  local n = 0
  for _, code in utf8.codes("aé") do n = n + code end
  return {n = n, length = utf8.len("aé"), char = utf8.char(233)}
end
