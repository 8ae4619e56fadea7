---@meta
-- What the sandbox has of Lua's own, with the types the check goes by. What is `any` is so on purpose: where Lua
-- gives several kinds, a narrower type would find faults that are none.

---@generic T
---@param v T
---@param message? any
---@return T
function assert(v, message, ...) end

---@param message any
---@param level? integer
function error(message, level) end

---@param object any
---@return any
function getmetatable(object) end

---@generic V
---@param t table<any, V>|V[]
---@return fun(t: any, i?: integer): integer, V
function ipairs(t) end

---@param t table
---@param key? any
---@return any, any
function next(t, key) end

---@generic K, V
---@param t table<K, V>|V[]
---@return fun(t: any, k?: any): K, V
function pairs(t) end

---@param f any
---@return boolean, any
function pcall(f, ...) end

---@return nil
function print(...) end

---@return boolean
function rawequal(a, b) end

---@return any
function rawget(t, key) end

---@return integer
function rawlen(t) end

---@return any
function rawset(t, key, value) end

---@return any
function select(index, ...) end

---@return any
function setmetatable(t, metatable) end

---@param value any
---@param base? integer
---@return any
function tonumber(value, base) end

---@param value any
---@return string
function tostring(value) end

---@param value any
---@return string
function type(value) end

---@param f any
---@param handler any
---@return boolean, any
function xpcall(f, handler, ...) end

---@type string
_VERSION = ""

---@type any
null = nil

---@generic T
---@param result T
---@param what? string
---@return T - ToolError - nil
function must(result, what) end

---@param branches table
---@return any
function parallel(branches) end

---@param times integer
---@param fn any
---@return any
function retry(times, fn, ...) end

coroutine = {}
---@return boolean, any
function coroutine.close(co) end
---@return any
function coroutine.create(f) end
---@return boolean
function coroutine.isyieldable(co) end
---@return boolean, any
function coroutine.resume(co, ...) end
---@return any, boolean
function coroutine.running() end
---@return string
function coroutine.status(co) end
---@return any
function coroutine.wrap(f) end
---@return any
function coroutine.yield(...) end

math = {}
---@type number
math.huge = 0.0
---@type number
math.pi = 3.0
---@type integer
math.maxinteger = 0
---@type integer
math.mininteger = 0
---@param x any
---@return number
function math.abs(x) end
---@param x any
---@return number
function math.acos(x) end
---@param x any
---@return number
function math.asin(x) end
---@param y any
---@param x? any
---@return number
function math.atan(y, x) end
---@param x any
---@return integer
function math.ceil(x) end
---@param x any
---@return number
function math.cos(x) end
---@param x any
---@return number
function math.deg(x) end
---@param x any
---@return number
function math.exp(x) end
---@param x any
---@return integer
function math.floor(x) end
---@return number
function math.fmod(x, y) end
---@return number
function math.log(x, base) end
---@return number
function math.max(x, ...) end
---@return number
function math.min(x, ...) end
---@return number, number
function math.modf(x) end
---@return number
function math.rad(x) end
---@return number
function math.sin(x) end
---@return number
function math.sqrt(x) end
---@return number
function math.tan(x) end
---@return any
function math.tointeger(x) end
---@return any
function math.type(x) end
---@return boolean
function math.ult(a, b) end

---@class string
string = {}
---@return any
function string.byte(s, i, j) end
---@return string
function string.char(...) end
---@return any, any, any, any, any
function string.find(s, pattern, init, plain) end
---@return string
function string.format(format, ...) end
---@return fun(): any, any, any, any, any
function string.gmatch(s, pattern, init) end
---@return string, integer
function string.gsub(s, pattern, replacement, n) end
---@return integer
function string.len(s) end
---@return string
function string.lower(s) end
---@return any, any, any, any, any
function string.match(s, pattern, init) end
---@return string
function string.pack(format, ...) end
---@return integer
function string.packsize(format) end
---@return string
function string.rep(s, n, separator) end
---@return string
function string.reverse(s) end
---@return string
function string.sub(s, i, j) end
---@return any
function string.unpack(format, s, i) end
---@return string
function string.upper(s) end

table = {}
---@return string
function table.concat(list, separator, i, j) end
---@param list any
function table.insert(list, place, value) end
---@return any
function table.move(a, from, to, at, b) end
---@return any
function table.pack(...) end
---@return any
function table.remove(list, place) end
function table.sort(list, before) end
---@return any
function table.unpack(list, i, j) end

utf8 = {}
---@type string
utf8.charpattern = ""
---@return string
function utf8.char(...) end
---@return any
function utf8.codepoint(s, i, j, lax) end
---@return fun(): integer, integer
function utf8.codes(s, lax) end
---@return any
function utf8.len(s, i, j, lax) end
---@return any
function utf8.offset(s, n, i) end
