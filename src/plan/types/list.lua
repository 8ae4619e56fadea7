---@meta
-- The library `list` for the check, where the items of a result are those of the list given. The stubs that plans are
-- written by say `table`, which is shorter.
list = {}

---@return table
function list.empty() end

---@param value any
---@return boolean
function list.is_list(value) end

---@generic T, R
---@param items T[]
---@param fn string|fun(item: T, index: integer): R
---@return R[]
function list.map(items, fn) end

---@generic T
---@param items T[]
---@param fn fun(item: T, index: integer)
function list.each(items, fn) end

---@generic T
---@param items T[]
---@param test table|fun(item: T, index: integer): any
---@return T[]
function list.filter(items, test) end

---@generic T
---@param items T[]
---@param test table|fun(item: T, index: integer): any
---@return T[] passed
---@return T[] others
function list.partition(items, test) end

---@generic T
---@param items T[]
---@param fn fun(result: any, item: T, index: integer): any
---@param initial? any
---@return any
function list.reduce(items, fn, initial) end

---@generic T
---@param items T[]
---@param test table|fun(item: T, index: integer): any
---@return T? item
---@return integer? index
function list.find(items, test) end

---@param items table
---@param value any
---@return integer?
function list.index_of(items, value) end

---@param items table
---@param value any
---@return boolean
function list.contains(items, value) end

---@generic T
---@param items T[]
---@param test table|fun(item: T, index: integer): any
---@return boolean
function list.any(items, test) end

---@generic T
---@param items T[]
---@param test table|fun(item: T, index: integer): any
---@return boolean
function list.all(items, test) end

---@generic T
---@param items T[]
---@param test? table|fun(item: T, index: integer): any
---@return integer
function list.count(items, test) end

---@generic T
---@param items T[]
---@param key string|fun(item: T, index: integer): any
---@param direction? "asc"|"desc"
---@return T[]
function list.sort_by(items, key, direction) end

---@generic T
---@param items T[]
---@param direction? "asc"|"desc"
---@return T[]
function list.sort(items, direction) end

---@generic T
---@param items T[]
---@param key string|fun(item: T, index: integer): any
---@param missing? any
---@return table<any, T[]>
function list.group_by(items, key, missing) end

---@generic T
---@param items T[]
---@param key string|fun(item: T, index: integer): any
---@param missing? any
---@return table<any, integer>
function list.count_by(items, key, missing) end

---@generic T
---@param items T[]
---@param key string|fun(item: T, index: integer): any
---@return table<any, T>
function list.index_by(items, key) end

---@generic T
---@param items T[]
---@param key? string|fun(item: T, index: integer): any
---@return T[]
function list.unique(items, key) end

---@generic T
---@param items T[]
---@param key string|fun(item: T, index: integer): any
---@return any[]
function list.pluck(items, key) end

---@generic T
---@param items T[]
---@param key string|fun(item: T, index: integer): any
---@return number
function list.sum_by(items, key) end

---@generic T
---@param items T[]
---@param from? integer
---@param to? integer
---@return T[]
function list.slice(items, from, to) end

---@generic T
---@param items T[]
---@param n integer
---@return T[]
function list.take(items, n) end

---@generic T
---@param items T[]
---@param n integer
---@return T[]
function list.drop(items, n) end

---@generic T
---@param items T[]
---@param n integer
---@return T[][]
function list.chunk(items, n) end

---@generic T
---@param items T[]
---@return T[]
function list.reverse(items) end

---@param ... table
---@return table
function list.concat(...) end

---@param items table
---@param depth? integer
---@return table
function list.flatten(items, depth) end

---@param a table
---@param b table
---@return table[]
function list.zip(a, b) end

---@param from integer
---@param to? integer
---@param step? integer
---@return integer[]
function list.range(from, to, step) end

---@param t table
---@return table
function list.keys(t) end

---@param t table
---@return table
function list.values(t) end
