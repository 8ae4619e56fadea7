--- math.type
eq(math.type(1), "integer") eq(math.type(1.0), "float") eq(math.type("1"), nil) eq(math.type(nil), nil) fails("value expected", math.type)
--- math.tointeger
eq(math.tointeger(3.0), 3) eq(math.tointeger(3.5), nil) eq(math.tointeger(2^63), nil) eq(math.tointeger("8"), 8) eq(math.tointeger("x"), nil) eq(math.tointeger({}), nil) eq(math.tointeger(5), 5)
--- floor and ceil
eq(math.floor(2.7), 2) eq(math.floor(-2.7), -3) eq(math.ceil(2.1), 3) eq(math.ceil(-2.1), -2) eq(math.floor(5), 5) eq(math.floor(1e100), 1e100) eq(math.ceil(-0.5) == 0, true) eq(math.type(math.floor(3.0)), "integer")
--- abs
eq(math.abs(-5), 5) eq(math.abs(-5.5), 5.5) eq(math.abs(math.mininteger), math.mininteger) eq(math.abs(0), 0)
--- max and min
eq(math.max(1, 2.5, 2), 2.5) eq(math.min(3, 1, 2), 1) eq(math.max(5), 5) eq(math.max(1, 1.0), 1)
--- max and min keep the kind
eq(math.type(math.max(1, 2)), "integer") eq(math.type(math.max(1.0, 2)), "integer") eq(math.type(math.min(1.0, 2)), "float")
--- fmod
eq(math.fmod(7, 3), 1) eq(math.fmod(-7, 3), -1) eq(math.fmod(7, -3), 1) eq(math.fmod(5.5, 2), 1.5) eq(math.fmod(math.mininteger, -1), 0) fails("zero", math.fmod, 1, 0)
--- fmod of floats by zero
local n = math.fmod(1, 0.0) eq(n ~= n, true) eq(math.fmod(1, 1/0), 1.0)
--- modf
local i, f = math.modf(3.7) eq(i == 3, true) eq(f, 3.7 - 3) local i, f = math.modf(-3.5) eq(i == -3, true) eq(f, -0.5) local i, f = math.modf(1/0) eq(i, 1/0) eq(f, 0.0)
--- modf gives integers where it can
eq(math.type((math.modf(3.7))), "integer")
--- sqrt, exp, log
eq(math.sqrt(16), 4.0) eq(math.exp(0), 1.0) eq(math.log(1), 0.0) eq(math.log(8, 2), 3.0) eq(math.log(100, 10), 2.0) eq(math.log(27, 3) > 2.99, true) eq(math.log(0), -1/0)
--- angles
eq(math.sin(0), 0.0) eq(math.cos(0), 1.0) eq(math.tan(0), 0.0) eq(math.deg(math.pi), 180.0) eq(math.rad(180), math.pi) eq(math.atan(1, 1), math.pi / 4) eq(math.atan(1), math.pi / 4) eq(math.asin(1), math.pi / 2) eq(math.acos(1), 0.0)
--- ult
eq(math.ult(1, 2), true) eq(math.ult(-1, 1), false) eq(math.ult(1, -1), true) eq(math.ult(0, 0), false)
--- constants of math
eq(math.maxinteger, 0x7fffffffffffffff) eq(math.mininteger, -0x7fffffffffffffff - 1) eq(math.huge, 1/0) eq(math.pi, 3.141592653589793)
--- math refuses
fails("bad argument #1 to 'sqrt' (number expected, got nil)", function() math.sqrt(nil) end) fails("bad argument #1 to 'abs' (number expected, got table)", function() math.abs({}) end) fails("number has no integer representation", function() math.ult(1.5, 2) end)
--- math takes texts that are numbers
eq(math.floor("3.7"), 3) eq(math.sqrt("16"), 4.0)
--- utf8.char and charpattern
eq(utf8.char(72, 228, 8364, 128512), "Hä€😀") eq(utf8.char(), "") eq(utf8.charpattern, "[\0-\x7F\xC2-\xFD][\x80-\xBF]*") local n = 0 for _ in ("aä€"):gmatch(utf8.charpattern) do n = n + 1 end eq(n, 3)
--- utf8.len
eq(utf8.len("aä€😀"), 4) eq(utf8.len(""), 0) same(pack(utf8.len("a\xff")), nil, 2) eq(utf8.len("aä", 2), 1) eq(utf8.len("aä", -2), 1) eq(utf8.len("abc", 4), 0) eq(utf8.len("abc", 2, 2), 1)
--- utf8.codepoint
same(pack(utf8.codepoint("aä€", 1, -1)), 97, 228, 8364) eq(utf8.codepoint("a"), 97) same(pack(utf8.codepoint("abc", 3, 2)))
--- utf8.offset
eq(utf8.offset("aä€x", 3), 4) eq(utf8.offset("aä€x", -1), 7) eq(utf8.offset("aä", 5), nil) eq(utf8.offset("aä", 0, 3), 2) eq(utf8.offset("abc", 4), 4)
--- utf8.codes
local t = {} for p, c in utf8.codes("aä€") do t[#t + 1] = p .. ":" .. c end eq(table.concat(t, " "), "1:97 2:228 4:8364")
--- utf8 refuses
fails("invalid UTF-8 code", function() for _ in utf8.codes("a\xff") do end end) fails("invalid UTF-8 code", utf8.codepoint, "\xff") fails("out of bounds", utf8.codepoint, "abc", 10) fails("value out of range", utf8.char, -1) fails("initial position is a continuation byte", utf8.offset, "ä", 1, 2)
--- utf8 surrogates and large codes
eq(utf8.len("\u{D800}", 1, -1, true), 1) eq(utf8.len("\u{D800}"), nil) eq(utf8.len("\u{7FFFFFFF}", 1, -1, true), 1) eq(utf8.codepoint("\u{7FFFFFFF}", 1, 1, true), 0x7FFFFFFF)
--- utf8 overlong forms
eq(utf8.len("\xC0\x80"), nil) eq(utf8.len("\xE0\x80\x80"), nil) eq(utf8.len("\xF4\x90\x80\x80"), nil)
--- sums of floats
eq(0.1 + 0.2 == 0.3, false) eq(0.1 + 0.2, 0.30000000000000004) local s = 0.0 for i = 1, 10 do s = s + 0.1 end eq(s == 1.0, false)
--- the precision of floats
eq(2^53 + 1, 2^53) eq(9007199254740993 + 0.0, 2^53) eq(1e308 * 10, 1/0) eq(5e-324 / 2, 0.0)
--- greatest common divisor and primes
local function gcd(a, b) while b ~= 0 do a, b = b, a % b end return a end eq(gcd(462, 1071), 21) local c = 0 for n = 2, 200 do local p = true for d = 2, n - 1 do if d * d > n then break end if n % d == 0 then p = false break end end if p then c = c + 1 end end eq(c, 46)
--- collatz
local function steps(n) local c = 0 while n ~= 1 do n = n % 2 == 0 and n // 2 or 3 * n + 1 c = c + 1 end return c end eq(steps(27), 111)
--- a hash of bits
local h = 2166136261 for c in ("hello"):gmatch(".") do h = ((h ~ c:byte()) * 16777619) & 0xffffffff end eq(h, 0x4f9f2cab)
--- counting bits
local function bits(n) local c = 0 while n ~= 0 do n = n & (n - 1) c = c + 1 end return c end eq(bits(-1), 64) eq(bits(255), 8) eq(bits(math.mininteger), 1)
