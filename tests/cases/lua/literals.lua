--- decimal integers
eq(0, 0) eq(007, 7) eq(9223372036854775807, math.maxinteger)
eq(-9223372036854775807 - 1, math.mininteger)
--- decimal numerals beyond the integers are floats
eq(9223372036854775808, 2^63) eq(math.type(100000000000000000000), "float")
eq(1e1, 10.0) eq(1E+2, 100.0) eq(5e-1, 0.5)
--- numerals without digits on one side of the point
eq(.5, 0.5) eq(5., 5.0) eq(0x.8, 0.5) eq(0xA., 10.0) eq(3.e2, 300.0)
--- hexadecimal integers wrap around
eq(0xff, 255) eq(0XFF, 255) eq(0xffffffffffffffff, -1) eq(0x1ffffffffffffffff, -1)
eq(0x8000000000000000, math.mininteger)
--- hexadecimal floats
eq(0x1p4, 16.0) eq(0x1p-1, 0.5) eq(0xA.8p0, 10.5) eq(0x.1p4, 1.0) eq(0xep1, 28.0)
--- huge and tiny floats
eq(1e400, math.huge) eq(1e-400, 0.0) eq(2.2250738585072014e-308 > 0, true)
--- escapes of short strings
eq("\a\b\f\n\r\t\v", string.char(7, 8, 12, 10, 13, 9, 11))
eq("\\\"\'", [[\"']]) eq('\'"', "'\"")
--- decimal escapes
eq("\65\066\0067", "AB\0067") eq(#"\0\00\000", 3) eq("\2555", "\xff5")
--- hexadecimal escapes
eq("\x41\x4a\x4A", "AJJ") eq("\xff", "\255") eq("\x00", "\0")
--- escapes of code points
eq("\u{41}", "A") eq("\u{e9}", "\xC3\xA9") eq("\u{20AC}", "\xE2\x82\xAC")
eq("\u{10FFFF}", "\xF4\x8F\xBF\xBF") eq(#"\u{7FFFFFFF}", 6) eq("\u{00000041}", "A")
--- an escaped line break
eq("a\
b", "a\nb")
--- the escape that skips white space
eq("a\z
    b", "ab") eq("a\z   b\z", "ab") eq("x\z

	y", "xy")
--- long strings
eq([[a]], "a") eq([==[a]]b]=]c]==], "a]]b]=]c") eq([[\n]], "\\n")
--- long strings leave out their first line break
eq([[
a]], "a") eq([[

a]], "\na") eq(#[[
]], 0)
--- long strings take quotes and escapes as they are
eq([["\x41"]], '"\\x41"') eq([=[[[ ]] ]=], "[[ ]] ")
--- comments
local a = 1 -- to the end of the line
local b = 2 --[[ inside ]] local c = 3 --[==[ over
lines ]] ]==] local d = 4
---[[ not a long comment
eq(a + b + c + d, 10)
--]]
--- a comment at the end
local a = 5
eq(a, 5) -- no line break
--- names with underscores and digits
local _a, a_1, _, A = 1, 2, 3, 4
eq(_a + a_1 + _ + A, 10)
--- names like keywords
local And, END, iff, nils = 1, 2, 3, 4
eq(And + END + iff + nils, 10)
--- keywords as field names in brackets
local t = { ["end"] = 1, ["nil"] = 2 }
eq(t["end"] + t["nil"], 3)
--- numbers next to operators
eq(1 ..2, "12") eq(3-2, 1) eq(3--2
, 3) eq(0x10+1, 17) eq(2^-1, 0.5)
--- a minus before a literal
eq(-0x10, -16) eq(-1e2, -100.0) eq(- 5, -5) eq(- -5, 5) eq(-(-5), 5)
--- integers and floats of the same value
eq(1 == 1.0, true) eq(math.type(1), "integer") eq(math.type(1.0), "float")
--- empty strings are alike
eq("", '') eq("", [[]]) eq(#"", 0)
--- texts with bytes of every value
local bytes = {} for i = 0, 255 do bytes[#bytes + 1] = string.char(i) end
local text = table.concat(bytes) eq(#text, 256) eq(text:byte(1), 0) eq(text:byte(-1), 255)
--- texts with zeros compare whole
eq("a\0b" == "a\0c", false) eq("a\0b" < "a\0c", true) eq(#"a\0b", 3)
--- semicolons between statements
;;; local a = 1; ; local b = 2;
eq(a + b, 3);
--- a call of a literal's method
eq(("x"):rep(3), "xxx") eq(("%d"):format(7), "7") eq(#("ab"):upper(), 2)
--- a call with a literal and no brackets
local function f(x) return x end
eq(f"a", "a") eq(f'b', "b") eq(f[[c]], "c") eq(#f{1, 2}, 2) eq(type(f{}), "table")
