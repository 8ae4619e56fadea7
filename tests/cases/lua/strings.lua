--- len, sub, reverse, upper, lower
eq(("abc"):len(), 3) eq(("abc"):sub(2), "bc") eq(("abc"):sub(-2), "bc") eq(("abc"):sub(2, 2), "b") eq(("abc"):sub(0), "abc") eq(("abc"):sub(5), "") eq(("abc"):sub(3, 2), "") eq(("abc"):reverse(), "cba") eq(("aBc"):upper(), "ABC") eq(("aBc"):lower(), "abc")
--- sub at the edges of integers
eq(("abc"):sub(math.mininteger, math.maxinteger), "abc") eq(("abc"):sub(math.maxinteger), "") eq(("abc"):sub(-100, -2), "ab") eq(("abc"):sub(1, -4), "")
--- sub takes floats that are whole
eq(("abc"):sub(2.0, 3.0), "bc") fails("number has no integer representation", function() ("abc"):sub(1.5) end)
--- rep
eq(("ab"):rep(3), "ababab") eq(("ab"):rep(0), "") eq(("ab"):rep(-1), "") eq(("ab"):rep(2, ","), "ab,ab") eq(("ab"):rep(1, ","), "ab") eq((""):rep(100), "")
--- byte and char
same(pack(("abc"):byte(1, -1)), 97, 98, 99) eq(("abc"):byte(), 97) same(pack(("abc"):byte(10))) same(pack((""):byte())) eq(string.char(104, 105), "hi") eq(string.char(), "") fails("value out of range", string.char, 256) fails("value out of range", string.char, -1)
--- find plainly
same(pack(("a.b"):find(".", 1, true)), 2, 2) eq(("abc"):find("z", 1, true), nil) same(pack(("abc"):find("", 1, true)), 1, 0) same(pack(("abc"):find("", 10)), nil) same(pack(("abc"):find("", 4)), 4, 3)
--- find from the end
same(pack(("abcabc"):find("b", -2)), 5, 5) same(pack(("abc"):find("a", -10)), 1, 1)
--- find gives captures
same(pack(("key = value"):find("(%w+)%s*=%s*(%w+)")), 1, 11, "key", "value")
--- match
eq(("hello 42"):match("%d+"), "42") same(pack(("2024-05-06"):match("(%d+)-(%d+)-(%d+)")), "2024", "05", "06") eq(("abc"):match("b()"), 3) eq(("abc"):match("x"), nil) eq(("  x  "):match("^%s*(.-)%s*$"), "x")
--- match from a place
eq(("abcabc"):match("a.", 2), "ab") eq(("abc"):match("^b", 2), "b") eq(("abc"):match("c", 10), nil)
--- position captures
same(pack(("abc"):match("()b()")), 2, 3) same(pack((""):match("()")), 1)
--- classes
eq(("aB1_ .\n"):gsub("%a", "a"), "aa1_ .\n") eq(("a1 "):match("%w+"), "a1") eq(("a,b"):match("%p"), ",") eq(("\t x"):match("%S"), "x") eq(("x\0y"):match("%z") == nil, false)
--- classes turned round
eq(("12ab"):match("%D+"), "ab") eq(("ab12"):match("%A+"), "12") eq(("a b"):match("%W"), " ") eq(("aB"):match("%U+"), "a") eq(("aB"):match("%L+"), "B")
--- sets
eq(("hello"):match("[aeiou]"), "e") eq(("hello"):match("[^aeiou]+"), "h") eq(("a-b"):match("[a%-]+"), "a-") eq(("x]y"):match("[]]"), "]") eq(("a^b"):match("[b^]+"), "^b") eq(("0x1F"):match("[%x]+", 3), "1F") eq(("f-g"):match("[a-f]"), "f") eq(("-"):match("[a-]"), "-")
--- repetitions
eq(("aaa"):match("a*"), "aaa") eq(("aaa"):match("a-"), "") eq(("aaab"):match("a-b"), "aaab") eq(("b"):match("a?b"), "b") eq(("ab"):match("a?b"), "ab") eq((""):match("a+"), nil)
--- greedy and lazy
eq(("<a><b>"):match("<.*>"), "<a><b>") eq(("<a><b>"):match("<.->"), "<a>") eq(("[[x]]"):match("%[%[(.-)%]%]"), "x")
--- anchors
eq(("abc"):match("^a"), "a") eq(("abc"):match("^b"), nil) eq(("abc"):match("c$"), "c") eq(("a$b"):match("a$b"), "a$b") eq(("a^b"):match("a^b"), "a^b") eq((""):match("^$"), "")
--- balanced
eq(("f(a(b)c)d"):match("%b()"), "(a(b)c)") eq(("((x)"):match("%b()"), "(x)") eq(("xx"):match("%bxx"), "xx")
--- frontiers
eq(("THE (quick) fox"):find("%f[%a]%a+%f[%A]"), 1) local t = {} for w in ("one two"):gmatch("%f[%w]%w+") do t[#t + 1] = w end eq(table.concat(t, ","), "one,two") eq(("x"):match("%f[%z]") , "")
--- back references
eq(([["it's"]]):match([[(["'])(.-)%1]]), '"') eq(("abab"):match("(ab)%1"), "ab") eq(("abac"):match("(a)(b)%1"), "a")
--- patterns that are wrong
fails("malformed pattern (ends with '%')", string.find, "a", "%") fails("malformed pattern (missing ']')", string.find, "a", "[a") fails("unfinished capture", string.find, "a", "(a") fails("invalid pattern capture", string.find, "a", "a)()") fails("invalid capture index %1", string.find, "a", "%1")
fails("missing '[' after '%f' in pattern", string.find, "a", "%fa") fails("malformed pattern (missing arguments to '%b')", string.find, "a", "%b") 
--- too many captures
fails("too many captures", string.find, ("a"):rep(40), ("()"):rep(33))
--- thirty-two captures
eq(select("#", (("a"):rep(40)):find(("(a)"):rep(32))), 34)
--- gmatch
local t = {} for k, v in ("a=1, b=2"):gmatch("(%w+)=(%w+)") do t[#t + 1] = k .. v end eq(table.concat(t, ";"), "a1;b2") local n = 0 for _ in ("abc"):gmatch("") do n = n + 1 end eq(n, 4)
--- gmatch with a start
local t = {} for w in ("a b c"):gmatch("%a", 3) do t[#t + 1] = w end eq(table.concat(t), "bc") local t = {} for w in ("a b c"):gmatch("%a", -1) do t[#t + 1] = w end eq(table.concat(t), "c")
--- gmatch with an anchor
local n = 0 for w in ("aaa"):gmatch("^a") do n = n + 1 end eq(n, 0)
--- gmatch of matches that may be empty
local t = {} for w in ("a1b22"):gmatch("%d*") do t[#t + 1] = "[" .. w .. "]" end eq(table.concat(t), "[][1][22]")
--- gsub
same(pack(("hello"):gsub("l", "L")), "heLLo", 2) same(pack(("hello"):gsub("l", "L", 1)), "heLlo", 1) same(pack(("abc"):gsub("", "-")), "-a-b-c-", 4) same(pack(("abc"):gsub("x", "y")), "abc", 0) same(pack(("abc"):gsub("b", "", 0)), "abc", 0)
--- gsub with captures
eq((("a b"):gsub("(%w) (%w)", "%2 %1")), "b a") eq((("abc"):gsub("%w", "%0%0")), "aabbcc") eq((("x"):gsub("x", "%%")), "%") eq((("ab"):gsub("(a)(b)", "%2%1%0")), "baab")
--- gsub with tables
eq((("$a $b $c"):gsub("%$(%w)", { a = "1", b = 2, c = false })), "1 2 $c") eq((("ab"):gsub(".", { a = "x" })), "xb")
--- gsub with functions
eq((("1 2 3"):gsub("%d", function(d) return d * 2 end)), "2 4 6") eq((("abc"):gsub(".", function(c) if c == "b" then return false end end)), "abc") eq((("a1"):gsub("(%a)(%d)", function(a, d) return d .. a end)), "1a")
--- gsub refuses
fails("invalid replacement value (a table)", function() ("a"):gsub("a", function() return {} end) end) fails("invalid use of '%' in replacement string", function() ("a"):gsub("a", "%x") end) fails("invalid capture index %2", function() ("a"):gsub("(a)", "%2") end) fails("string/function/table expected", function() ("a"):gsub("a", true) end)
--- gsub with an anchor
same(pack(("aaa"):gsub("^a", "b")), "baa", 1) same(pack(("hello world"):gsub("o$", "x")), "hello world", 0)
--- trimming and splitting
local function trim(s) return (s:gsub("^%s+", ""):gsub("%s+$", "")) end eq(trim("  a b  "), "a b") local t = {} for p in ("a,b,,c"):gmatch("([^,]*)") do t[#t + 1] = p end eq(#t, 4) eq(t[3], "")
--- format of integers
eq(("%d"):format(42), "42") eq(("%5d|%-5d|%05d"):format(1, 2, 3), "    1|2    |00003") eq(("%+d % d"):format(1, 2), "+1  2") eq(("%i"):format(3.0), "3") eq(("%x %X %#x"):format(255, 255, 255), "ff FF 0xff") eq(("%o"):format(8), "10") eq(("%.3d"):format(5), "005") eq(("%d"):format("10"), "10")
--- format of floats
eq(("%f"):format(1), "1.000000") eq(("%.2f"):format(2.345), "2.35") eq(("%8.3f|"):format(3.14159), "   3.142|") eq(("%e"):format(12345.678), "1.234568e+04") eq(("%g %g %g"):format(1e20, 0.1, 100000), "1e+20 0.1 100000") eq(("%G"):format(1e-10), "1E-10") eq(("%.0f"):format(0.5), "0") eq(("%a"):format(1), "0x1p+0")
--- format of what is no number
eq(("%.1f %f"):format(1/0, -1/0), "inf -inf") fails("number has no integer representation", function() ("%d"):format(1.5) end) fails("bad argument #2 to 'format' (number expected, got string)", function() string.format("%d", "x") end)
--- format of texts
eq(("%s|%5s|%-5s|%.2s"):format("a", "b", "c", "defg"), "a|    b|c    |de") eq(("%s %s %s"):format(nil, true, 1.0), "nil true 1.0") eq(("%%"):format(), "%") eq(("%c%c"):format(65, 66), "AB") eq(("%5.1s|"):format("xyz"), "    x|")
--- format of quoted values
eq(("%q"):format('a"b\\c\n\0d'), '"a\\"b\\\\c\\\n\\0d"') eq(("%q"):format(10), "10") eq(("%q"):format(0.5), "0x1p-1") eq(("%q"):format(math.mininteger), "0x8000000000000000") eq(("%q"):format(nil), "nil") eq(("%q"):format(1/0), "1e9999")
--- format refuses
fails("bad argument #2 to 'format' (no value)", function() string.format("%s") end) fails("invalid conversion '%y' to 'format'", function() string.format("%y", 1) end) fails("invalid conversion '%' to 'format'", function() string.format("%", 1) end) fails("value has no literal form", function() string.format("%q", {}) end) fails("specifier '%q' cannot have modifiers", function() string.format("%5q", "x") end)
--- format with events
local o = setmetatable({}, { __tostring = function() return "obj" end }) eq(("%s %10s"):format(o, o), "obj        obj")
--- numbers are texts to the library
eq(string.len(123), 3) eq(string.rep(1, 3), "111") eq(string.upper(1.5), "1.5") eq(string.sub(12345, 2, 3), "23") eq(("x"):rep("3"), "xxx")
--- pack and unpack integers
eq(string.pack("<i4", 1), "\1\0\0\0") eq(string.pack(">i4", 1), "\0\0\0\1") eq(string.pack("b", -1), "\255") eq(string.pack("<i3", -2), "\xfe\xff\xff") same(pack(string.unpack("<i4", "\1\0\0\0")), 1, 5) same(pack(string.unpack("b", "\255")), -1, 2) same(pack(string.unpack("B", "\255")), 255, 2)
--- pack and unpack of every size
for n = 1, 16 do local v = n < 8 and (1 << (8 * n - 1)) - 1 or math.maxinteger eq((string.unpack("<i" .. n, string.pack("<i" .. n, v))), v) eq((string.unpack(">i" .. n, string.pack(">i" .. n, -v))), -v) end
--- pack and unpack floats
for _, v in ipairs({ 0.0, 1.5, -2.25, 1e300, 1/0 }) do eq((string.unpack("<d", string.pack("<d", v))), v) eq((string.unpack(">n", string.pack(">n", v))), v) end eq((string.unpack("f", string.pack("f", 0.5))), 0.5)
--- pack and unpack texts
eq(string.pack("z", "ab"), "ab\0") eq(string.pack("<s2", "ab"), "\2\0ab") eq(string.pack("s1", "abc"), "\3abc") same(pack(string.unpack("z", "ab\0cd")), "ab", 4) same(pack(string.unpack("s1", "\3abcd")), "abc", 5) eq(string.pack("c5", "ab"), "ab\0\0\0") same(pack(string.unpack("c2", "abc")), "ab", 3)
--- pack with alignment
eq(string.packsize("!4 i1 i4"), 8) eq(string.packsize("<i1 i4"), 5) eq(#string.pack("!8 b d", 1, 2), 16) eq(string.packsize("!4 i1 !2 i4"), 6) eq(string.pack("<!4 i1 Xi4 i4", 1, 2), "\1\0\0\0\2\0\0\0")
--- unpack from a place
same(pack(string.unpack("<i2", "\0\0\1\0", 3)), 1, 5) same(pack(string.unpack("b", "abc", -1)), 99, 4) eq(select("#", string.unpack("", "abc")), 1)
--- pack refuses
fails("integer overflow", string.pack, "i1", 200) fails("unsigned overflow", string.pack, "B", 256) fails("string contains zeros", string.pack, "z", "a\0") fails("string longer than given size", string.pack, "c1", "ab") fails("out of limits [1,16]", string.pack, "i17", 1) fails("invalid format option 'y'", string.pack, "y", 1) fails("data string too short", string.unpack, "i4", "abc") fails("unfinished string for format 'z'", string.unpack, "z", "abc") fails("variable-length format", string.packsize, "s") fails("16-byte integer", string.unpack, "<i16", ("\255"):rep(8) .. ("\1"):rep(8)) fails("initial position out of string", string.unpack, "b", "abc", 10) fails("power of 2", string.pack, "!3 i4", 1) fails("invalid next option", string.packsize, "X")
--- comparisons by bytes
eq("\xff" > "a", true) eq("a\0" > "a", true) eq("é" > "z", true)
--- long texts
local s = ("abc"):rep(1000) eq(#s, 3000) eq(s:sub(2999), "bc") eq(select(2, s:gsub("b", "x")), 1000) eq(s:find("cab", 2500, true), 2502)
--- patterns on long texts
local s = ("a"):rep(5000) .. "b" eq(s:match("a-b") == s, true) eq(s:find(".-b$"), 1) eq(#s:match("a+"), 5000) eq(s:match("^(a*)b$") ~= nil, true)
--- patterns with many alternatives tried
local s = ("a"):rep(20) eq(s:match("a?a?a?a?a?a?a?a?a?a?aaaaaaaaaaaaaaaaaaaa") ~= nil, true)
--- bytes that are no text
local s = "\xff\0\x80" eq(#s, 3) eq(s:byte(3), 128) eq(s:find("\0", 1, true), 2) eq(s:upper(), s) eq(s:reverse(), "\x80\0\xff") eq((s:gsub("\0", "x")), "\xffx\x80")
--- tostring gives texts
eq(tostring(nil), "nil") eq(tostring(true), "true") eq(tostring("x"), "x") eq(tostring(12), "12") fails("bad argument #1 to 'tostring' (value expected)", function() tostring() end) eq(tostring({}):match("^table: ") ~= nil, true) eq(tostring(print):match("^function: ") ~= nil, true)
--- tostring of one table is the same each time
local t, u = {}, {} eq(tostring(t), tostring(t)) eq(tostring(t) == tostring(u), false)
--- print joins by tabs
print(1, "a", nil, true, 2.5) print() print("x\ty")
