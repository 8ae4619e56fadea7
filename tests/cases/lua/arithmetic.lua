--- integers stay integers
eq(1 + 2, 3) eq(7 - 9, -2) eq(3 * 4, 12) eq(7 // 2, 3) eq(7 % 3, 1)
--- division and powers give floats
eq(6 / 3, 2.0) eq(2 ^ 2, 4.0) eq(1 / 2, 0.5) eq(math.type(4 / 2), "float")
--- a float makes a float
eq(1 + 2.0, 3.0) eq(2 * 1.5, 3.0) eq(7.0 // 2, 3.0) eq(7 % 2.0, 1.0)
--- integers wrap around
eq(math.maxinteger + 1, math.mininteger) eq(math.mininteger - 1, math.maxinteger)
eq(math.maxinteger * 2, -2) eq(-math.mininteger, math.mininteger) eq(math.mininteger * -1, math.mininteger)
--- floor division goes down
eq(-7 // 2, -4) eq(7 // -2, -4) eq(-7 // -2, 3) eq(-7.0 // 2, -4.0) eq(7.5 // 2, 3.0) eq(-0.5 // 1, -1.0)
--- modulo has the sign of the divisor
eq(-7 % 3, 2) eq(7 % -3, -2) eq(-7 % -3, -1) eq(-7.5 % 2, 0.5) eq(7.5 % -2, -0.5) eq(5 % 5, 0)
--- modulo by infinity
eq(5 % math.huge, 5.0) eq(-5 % math.huge, math.huge) eq(5 % -math.huge, -math.huge) eq(-5 % -math.huge, -5.0)
--- the smallest integer divided by minus one
eq(math.mininteger // -1, math.mininteger) eq(math.mininteger % -1, 0)
--- integers divided by zero
fails("attempt to divide by zero", function() return 1 // 0 end)
fails("attempt to perform 'n%0'", function() return 1 % 0 end)
--- floats divided by zero
eq(1 / 0, math.huge) eq(-1 / 0, -math.huge) eq(1 // 0.0, math.huge) eq(-1 // 0.0, -math.huge) local n = 1 % 0.0 eq(n ~= n, true)
--- not a number
local n = 0 / 0 eq(n == n, false) eq(n ~= n, true) eq(n < n, false) eq(n >= n, false)
--- infinities
eq(math.huge - 1 == math.huge, true) eq(math.huge * 0 ~= math.huge * 0, true) eq(-math.huge < math.mininteger, true)
--- the sign of zero
eq(0.0 == -0.0, true) eq(1 / 0.0, math.huge) eq(1 / -0.0, -math.huge) eq(1 / (0.0 * -1), -math.huge) eq(tostring(-0.0), "-0.0")
--- powers
eq(2 ^ 10, 1024.0) eq(2 ^ 0.5 == math.sqrt(2), true) eq((-8) ^ (1 / 3) ~= (-8) ^ (1 / 3), true) eq(0 ^ 0, 1.0) eq(2 ^ -1, 0.5)
--- powers join from the right and bind before minus
eq(2 ^ 3 ^ 2, 512.0) eq(-2 ^ 2, -4.0) eq(2 ^ -3 ^ 0, 0.5)
--- order of operators
eq(2 + 3 * 4, 14) eq((2 + 3) * 4, 20) eq(10 - 2 - 3, 5) eq(100 // 10 // 3, 3) eq(7 - 3 .. "", "4")
eq(1 .. 2 + 3, "15") eq(not 1 == 2, false) eq(-3 % 5, 2) eq(#"ab" + 1, 3) eq(2 * 3 % 4, 2)
--- order of bit operators
eq(1 | 2 ~ 3 & 4, 3) eq(1 << 2 + 1, 8) eq(5 & 3 == 1, true) eq(1 | 2 == 3, true) eq(1 < 2 | 4, true)
--- order of comparison and logic
eq(1 < 2 and 2 < 3, true) eq(nil == false, false) eq(1 or error("never"), 1) eq(nil and error("never"), nil) eq(false or nil, nil)
--- and and or give their operands
eq(nil or "d", "d") eq(false and 1, false) eq(1 and 2, 2) eq(nil and 1 or 2, 2) eq(false or false, false)
--- bits
eq(6 & 3, 2) eq(6 | 3, 7) eq(6 ~ 3, 5) eq(~0, -1) eq(~5, -6) eq(0xff & ~0xf, 0xf0)
--- shifts
eq(1 << 4, 16) eq(256 >> 4, 16) eq(-1 >> 60, 15) eq(-1 << 63, math.mininteger) eq(1 << 63, math.mininteger)
--- shifts of all bits and more
eq(1 << 64, 0) eq(-1 >> 64, 0) eq(1 << 100, 0) eq(5 >> 1000, 0) eq(1 << math.maxinteger, 0)
--- shifts the other way
eq(16 << -2, 4) eq(1 >> -3, 8) eq(1 << -64, 0) eq(1 >> math.mininteger, 0) eq(1 << math.mininteger, 0)
--- bits of floats that are whole
eq(3.0 & 1, 1) eq(2^53 | 0, 1 << 53) eq(-1.0 >> 63, 1)
--- bits of other floats
fails("number has no integer representation", function() return 1.5 & 1 end)
fails("number has no integer representation", function() return 2^63 | 0 end)
fails("has no integer representation", function() local a = 0 / 0 return ~a end)
--- comparing integers with floats is exact
eq(math.maxinteger < 2^63, true) eq(math.maxinteger + 0.0 == 2^63, true) eq(math.maxinteger == 2^63, false)
eq(2^53 == (1 << 53) + 1, false) eq((1 << 53) + 1 > 2^53, true) eq(math.mininteger == -2^63, true) eq(math.mininteger <= -2^63, true)
--- comparing texts
eq("a" < "b", true) eq("a" < "B", false) eq("" < "a", true) eq("a" < "aa", true) eq("Z" <= "Z", true) eq("10" < "9", true)
--- comparing kinds that do not compare
fails("attempt to compare number with string", function() return 1 < "2" end)
fails("attempt to compare two table values", function() return {} < {} end)
fails("attempt to compare two nil values", function() return nil <= nil end)
fails("attempt to compare boolean with number", function() return true > 1 end and function() return true < 1 end)
--- equality converts nothing
eq(1 == "1", false) eq("0" == 0, false) eq({} == {}, false) eq(nil == false, false) eq("a" == "a", true)
--- texts that are numbers in arithmetic
eq("10" + 5, 15) eq("3" * "4", 12) eq("0x10" + 0, 16) eq(" 7 " - 0, 7) eq("1e1" + 0, 10.0)
eq("10" // 3, 3) eq("7" % 4, 3) eq("2" ^ 2, 4.0) eq(-"2", -2) eq(-"-2.5", 2.5) eq("9" / 3, 3.0)
--- texts in operations on bits
fails("attempt to perform bitwise operation on a string value", function() return "3" | 4 end)
--- texts that are no numbers
--# piccolo: messages name no variables and may use other words
fails("attempt to add a 'string' with a 'number'", function() return "a" + 1 end)
fails("attempt to perform bitwise operation on a string value", function() return "a" | 1 end)
fails("attempt to mul a 'string' with a 'number'", function() return "" * 2 end)
--- arithmetic on other kinds
fails("attempt to perform arithmetic on a nil value", function() return nil + 1 end)
fails("attempt to perform arithmetic on a table value", function() return {} * 2 end)
fails("attempt to perform arithmetic on a boolean value", function() return -true end)
fails("attempt to perform bitwise operation on a table value", function() return {} & 1 end)
--- a number and the length of its text
eq(#tostring(123), 3) eq(tostring(1e15), "1e+15") eq(tostring(1e14), "1e+14") eq(tostring(2^53), "9.007199254741e+15") eq(tostring(123456.0), "123456.0")
--- texts of numbers
eq(1 .. "", "1") eq(1.0 .. "", "1.0") eq(-0.0 .. "", "-0.0") eq(1e100 .. "", "1e+100") eq(0.1 .. "", "0.1") eq(1/3 .. "", "0.33333333333333") eq(100000000000000 .. "", "100000000000000")
--- texts of what is no number
eq(tostring(1/0), "inf") eq(tostring(-1/0), "-inf") eq(tostring(math.maxinteger), "9223372036854775807") eq(tostring(math.mininteger), "-9223372036854775808")
--- tonumber
eq(tonumber("10"), 10) eq(tonumber("  10  "), 10) eq(tonumber("10a"), nil) eq(tonumber(""), nil) eq(tonumber("0x"), nil) eq(tonumber("1e"), nil) eq(tonumber("1 2"), nil)
eq(tonumber("1e1"), 10.0) eq(tonumber(".5"), 0.5) eq(tonumber("5."), 5.0) eq(tonumber("0x1p4"), 16.0) eq(tonumber("-0x10"), -16) eq(tonumber("- 1"), nil) eq(tonumber("inf"), nil) eq(tonumber("nan"), nil)
--- tonumber of what is no text
eq(tonumber(5), 5) eq(tonumber(5.5), 5.5) eq(tonumber(nil), nil) eq(tonumber({}), nil) eq(tonumber(true), nil)
--- tonumber in a base
eq(tonumber("ff", 16), 255) eq(tonumber("FF", 16), 255) eq(tonumber("101", 2), 5) eq(tonumber("zz", 36), 1295) eq(tonumber("-7", 8), -7) eq(tonumber("8", 8), nil) eq(tonumber("", 10), nil) eq(tonumber(" 11 ", 2), 3)
--- tonumber in a base refuses what is no text
fails("bad argument #1 to 'tonumber' (string expected, got number)", function() return tonumber(10, 10) end)
fails("bad argument #2 to 'tonumber' (base out of range)", function() return tonumber("10", 1) end)
fails("bad argument #2 to 'tonumber' (base out of range)", function() return tonumber("10", 37) end)
--- tonumber of large numerals
eq(tonumber("9223372036854775807"), math.maxinteger) eq(tonumber("9223372036854775808"), 2^63) eq(tonumber("0xffffffffffffffff"), -1) eq(tonumber("1e999"), math.huge)
--- joining
eq("a" .. "b" .. "c", "abc") eq(1 .. 2 .. 3, "123") eq("x" .. 1.5, "x1.5") eq("" .. "", "")
fails("attempt to concatenate a nil value", function() return "a" .. nil end)
fails("attempt to concatenate a table value", function() return {} .. "a" end)
fails("attempt to concatenate a boolean value", function() return 1 .. true end)
--- length of what has none
fails("attempt to get length of a number value", function() local n = 1 return #n end)
fails("attempt to get length of a nil value", function() local n return #n end)
--- chains of comparisons need and
local t = {} for i = 1, 5 do t[#t + 1] = tostring(i > 1 and i < 4) end eq(table.concat(t, " "), "false true true false false")
--- mixed arithmetic over a long expression
eq(1 + 2 - 3 * 4 // 5 % 6 + 7 / 7 - 2 ^ 2, 1 + 2 - 2 + 1.0 - 4.0)
--- a sum of a hundred terms
local a = 1
eq(a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a+a, 100)
--- a text joined of sixty pieces
local a = "x" eq(#(a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a..a), 60)
