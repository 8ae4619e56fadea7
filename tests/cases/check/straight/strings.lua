--# a report built line by line
function run(context)
  local rows = query_db{table = "products"}
  if rows.error then return {error = rows.error} end
  local out = {"# Stock", ""}
  for _, row in ipairs(rows) do
    local mark = row.stock == 0 and "!" or " "
    out[#out + 1] = ("%s %-10s %6d"):format(mark, row.name, row.stock)
  end
  return table.concat(out, "\n")
end

--# text appended in a loop
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  local report = "Users:\n"
  for i, row in ipairs(rows) do
    report = report .. i .. ". " .. row.name
    if row.city then report = report .. " (" .. row.city .. ")" end
    report = report .. "\n"
  end
  return {report = report, length = #report}
end

--# links found by a pattern
function run(context)
  local page = fetch_url("https://example.com/page")
  if page.error then return {error = page.error} end
  local links = {}
  for href, label in page:gmatch('<a href="([^"]+)">([^<]*)</a>') do
    links[#links + 1] = {href = href, label = text.trim(label)}
  end
  local title = page:match("<title>(.-)</title>") or "untitled"
  return {title = title, links = #links, first = links[1] and links[1].href}
end

--# numbers and dates out of text
function run(context)
  local page = fetch_url("https://example.com/page")
  if page.error then return {error = page.error} end
  local phone = page:match("%d%d%d%-%d+")
  local year, month, day = page:match("(%d+)%-(%d%d)%-(%d%d)")
  if not year then return {phone = phone} end
  return {phone = phone, year = tonumber(year), month = tonumber(month), day = tonumber(day)}
end

--# words counted
function run(context)
  local summary = call_llm("Summarise the week.")
  if summary.error then return {error = summary.error} end
  local counts = {}
  for word in summary:lower():gmatch("%a+") do
    counts[word] = (counts[word] or 0) + 1
  end
  local words = list.keys(counts)
  table.sort(words, function(a, b)
    if counts[a] ~= counts[b] then return counts[a] > counts[b] end
    return a < b
  end)
  return {top = list.take(words, 3), distinct = #words}
end

--# a template of one's own
local function fill(template, values)
  return (template:gsub("{(%w+)}", function(name)
    return tostring(values[name] or "?")
  end))
end

function run(context)
  local letter = fill("Dear {name}, you owe {amount}. {missing}", {name = "Ada", amount = 12.5})
  return {letter = letter}
end

--# key and value lines
function run(context)
  local source = "name = Ada\nage=36\n# comment\n\ncity = Oslo"
  local settings = {}
  for _, line in ipairs(text.lines(source)) do
    local key, value = line:match("^%s*(%w+)%s*=%s*(.-)%s*$")
    if key then settings[key] = value end
  end
  return {name = settings.name, age = tonumber(settings.age), city = settings.city}
end

--# padding and truncation for a table in text
function run(context)
  local rows = query_db{table = "tickets"}
  if rows.error then return {error = rows.error} end
  local lines = list.map(rows, function(row)
    return text.pad_left(row.id, 4) .. "  " .. text.pad_right(text.truncate(row.title, 8), 10) .. row.status
  end)
  return table.concat(lines, "\n")
end

--# plural or not
local function plural(n, one, many)
  return n .. " " .. (n == 1 and one or many)
end

function run(context)
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  return {text = plural(#users, "user", "users"), none = plural(0, "user", "users")}
end

--# escaping for HTML
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return {error = rows.error} end
  local cells = {}
  for _, row in ipairs(rows) do
    table.insert(cells, "<li>" .. text.escape_html(row.name) .. "</li>")
  end
  local html = "<ul>" .. table.concat(cells) .. "</ul>"
  local receipt = send_email{to = "ops@example.com", subject = "List", body = html, html = true}
  if receipt.error then return {error = receipt.error} end
  return {size = receipt.size_bytes}
end

--# splitting and joining
function run(context)
  local parts = text.split("a;b;;c", ";")
  local filled = list.filter(parts, function(part) return part ~= "" end)
  local upper = list.map(filled, text.upper)
  return {joined = text.join(upper, "-"), n = #parts, last = parts[#parts]}
end

--# a mask over an address
function run(context)
  local function mask(address)
    local name, host = address:match("^(.-)@(.+)$")
    if not name then return "***" end
    return name:sub(1, 1) .. ("*"):rep(math.max(#name - 1, 1)) .. "@" .. host
  end
  local users = query_db{table = "users"}
  if users.error then return {error = users.error} end
  local out = {}
  for i, user in ipairs(users) do out[i] = user.email and mask(user.email) or "none" end
  return out
end

--# formats of numbers
function run(context)
  local total = 1234567.891
  return {
    plain = string.format("%.2f", total),
    grouped = text.number(total, 2),
    percent = string.format("%d%%", math.floor(0.256 * 100 + 0.5)),
    hex = ("%x"):format(255),
    rounded = math.round(total, 1),
  }
end

--# a slug for each title
function run(context)
  local tickets = query_db{table = "tickets"}
  if tickets.error then return {error = tickets.error} end
  local slugs = {}
  for _, ticket in ipairs(tickets) do
    slugs[ticket.id] = text.slug(ticket.title)
  end
  return {first = slugs[7], all = table.concat(list.map(tickets, function(t) return slugs[t.id] end), " ")}
end

--# characters one by one
function run(context)
  local word = context.word or "level"
  local reversed = word:reverse()
  local vowels = 0
  for i = 1, #word do
    local c = word:sub(i, i)
    if ("aeiou"):find(c, 1, true) then vowels = vowels + 1 end
  end
  return {palindrome = word == reversed, vowels = vowels, codes = {word:byte(1, 3)}}
end

--# a long string as a body
function run(context)
  local body = [[
Hello,

the import is done. Rows: %d.

Regards]]
  local rows = query_db{table = "orders"}
  if rows.error then return {error = rows.error} end
  local receipt = send_email("ops@example.com", "Import", body:format(#rows))
  if receipt.error then return {error = receipt.error} end
  return {delivered = receipt.delivered}
end

--# the summary's first line
function run(context)
  local answer = call_llm{prompt = "Summarise: all is well.", max_tokens = 100}
  if answer.error then return {error = answer.error} end
  local first = text.lines(answer)[1] or ""
  return {first = first, chars = text.len(answer), shouted = text.upper(first)}
end

--# tests of prefixes and parts
function run(context)
  local urls = {"https://example.com/a", "http://example.com/b", "ftp://x"}
  local kinds = {secure = 0, plain = 0, other = 0}
  for _, url in ipairs(urls) do
    if text.starts_with(url, "https://") then
      kinds.secure = kinds.secure + 1
    elseif text.starts_with(url, "http://") then
      kinds.plain = kinds.plain + 1
    else
      kinds.other = kinds.other + 1
    end
  end
  return kinds
end

--# bytes of a checksum
function run(context)
  local function checksum(s)
    local sum = 0
    for i = 1, #s do sum = (sum * 31 + s:byte(i)) % 65521 end
    return sum
  end
  return {a = checksum("hello"), same = checksum("ab") == checksum("ab")}
end

--# a markdown table
function run(context)
  local rows = query_db{sql = "SELECT city, count(*) AS n FROM users GROUP BY city"}
  if rows.error then return {error = rows.error} end
  local lines = {"| city | n |", "|---|---|"}
  for _, row in ipairs(rows) do
    lines[#lines + 1] = "| " .. (row.city or "?") .. " | " .. row.n .. " |"
  end
  return {markdown = table.concat(lines, "\n")}
end

--# tostring where kinds differ
function run(context)
  local parts = {}
  for _, value in ipairs({1, 2.5, true, "x"}) do
    parts[#parts + 1] = tostring(value) .. ":" .. type(value)
  end
  return table.concat(parts, " ")
end

--# gsub with a table
function run(context)
  local names = {oslo = "Oslo", bergen = "Bergen"}
  local line, n = ("from oslo to bergen"):gsub("%a+", names)
  return {line = line, n = n}
end

--# a diff of two lists of lines
function run(context)
  local function set(lines)
    local out = {}
    for _, line in ipairs(lines) do out[line] = true end
    return out
  end
  local before, after = text.lines("a\nb\nc"), text.lines("b\nc\nd")
  local old, new = set(before), set(after)
  local added, removed = {}, {}
  for _, line in ipairs(after) do if not old[line] then added[#added + 1] = line end end
  for _, line in ipairs(before) do if not new[line] then removed[#removed + 1] = line end end
  return {added = added, removed = removed}
end

--# sentences kept while they fit
function run(context)
  local answer = call_llm("Tell a long story.")
  if answer.error then return {error = answer.error} end
  local kept, length = {}, 0
  for sentence in answer:gmatch("[^.]+%.?") do
    local trimmed = text.trim(sentence)
    if length + #trimmed > 200 then break end
    if trimmed ~= "" then
      kept[#kept + 1] = trimmed
      length = length + #trimmed
    end
  end
  return {text = table.concat(kept, " ")}
end

--# an address taken apart
function run(context)
  local function parse(url)
    local scheme, rest = url:match("^(%a+)://(.+)$")
    if not scheme then return nil, "no scheme" end
    local host, path = rest:match("^([^/]+)(/?.*)$")
    return {scheme = scheme, host = host, path = path ~= "" and path or "/"}
  end
  local parsed, why = parse("https://example.com/a/b?x=1")
  if not parsed then return {error = why} end
  return {host = parsed.host, path = parsed.path}
end
