--# a tool that is not there
function run(context)
  local rows = query_dbase{table = "users"} --! plan_unknown_tool
  return rows
end

--# a tool with a letter too many
function run(context)
  local page = fetch_urll("https://example.com") --! plan_unknown_tool
  return {page = page}
end

--# a tool nobody declared
function run(context)
  local files = list_files("/tmp") --! plan_unknown_tool
  return files
end

--# a server without that tool
function run(context)
  local customer = crm.get_customer{id = 1} --! plan_unknown_tool
  return customer
end

--# a server called as a tool
function run(context)
  return crm{id = 1} --! plan_unknown_tool
end

--# a helper that was never defined
function run(context)
  local rows = query_db{table = "users"}
  if rows.error then return rows.error end
  return summarize(rows) --! plan_unknown_tool
end

--# a misspelt helper
local function summarise(rows) return #rows end

function run(context)
  return {n = sumarise({1, 2})} --! plan_unknown_tool
end

--# a global that is never set
function run(context)
  return {total = total_amount} --! plan_unknown_tool
end

--# a library that is not there
function run(context)
  return {text = str.trim(" a ")} --! plan_unknown_tool
end

--# a function Lua's string does not have
function run(context)
  return {parts = string.split("a,b", ",")} --! plan_unknown_tool
end

--# a function Lua's table does not have
function run(context)
  return {has = table.contains({1}, 1)} --! plan_unknown_tool
end

--# a function the list library does not have
function run(context)
  return {doubled = list.transform({1, 2}, function(x) return x * 2 end)} --! plan_unknown_tool
end

--# a misspelt function of the text library
function run(context)
  return {name = text.trimm("  a ")} --! plan_unknown_tool
end

--# a function the date library does not have
function run(context)
  return {next = date.tomorrow()} --! plan_unknown_tool
end

--# a function the json library does not have
function run(context)
  local data = json.parse('{"a": 1}') --! plan_unknown_tool
  return data
end

--# a function the stats library does not have
function run(context)
  return {mean = stats.average({1, 2, 3})} --! plan_unknown_tool
end

--# the clock
function run(context)
  context.at = os.time() --! plan_forbidden_global
  return context
end

--# a file
function run(context)
  local file = io.open("/etc/passwd") --! plan_forbidden_global
  return {text = file:read("a")}
end

--# a module
local http = require("socket.http") --! plan_forbidden_global

function run(context)
  return {body = http.request("https://example.com")}
end

--# code from text
function run(context)
  local f = load("return 1") --! plan_forbidden_global
  return {value = f()}
end

--# chance
function run(context)
  return {dice = math.random(1, 6)} --! plan_forbidden_global
end

--# unpack of an older Lua
function run(context)
  local a, b = unpack({1, 2}) --! plan_forbidden_global
  return {a = a, b = b}
end

--# a shell
function run(context)
  os.execute("rm -rf /") --! plan_forbidden_global
  return context
end

--# the debug library
function run(context)
  return {info = debug.getinfo(1)} --! plan_forbidden_global
end

--# a log of base ten in an older Lua
function run(context)
  return {x = math.log10(100)} --! plan_forbidden_global
end
