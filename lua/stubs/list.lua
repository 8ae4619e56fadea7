---@meta
-- No function changes the list it is given. A function given to one may call tools.
-- A key is a member's name or a function of the item; a test is a function or a table of members that must be equal.
list = {}

---An empty list.
---@return table
function list.empty() end

---Whether a table is a list (an empty one is).
---@param value any
---@return boolean
function list.is_list(value) end

---The results of fn(item, index), or of a member's name; a nil becomes `null`.
---@param items table
---@param fn string|fun(item: any, index: integer): any
---@return table
function list.map(items, fn) end

---Calls fn(item, index) for each.
---@param items table
---@param fn fun(item: any, index: integer)
function list.each(items, fn) end

---The items that pass.
---@param items table
---@param test table|fun(item: any, index: integer): any
---@return table
function list.filter(items, test) end

---The items that pass, and those that do not.
---@param items table
---@param test table|fun(item: any, index: integer): any
---@return table passed
---@return table others
function list.partition(items, test) end

---fn(result, item, index) over all; without initial from the first item on.
---@param items table
---@param fn fun(result: any, item: any, index: integer): any
---@param initial? any
---@return any
function list.reduce(items, fn, initial) end

---The first item that passes and its index, or nil.
---@param items table
---@param test table|fun(item: any, index: integer): any
---@return any item
---@return integer? index
function list.find(items, test) end

---Where a value is, or nil.
---@param items table
---@param value any
---@return integer?
function list.index_of(items, value) end

---Whether a value is in it.
---@param items table
---@param value any
---@return boolean
function list.contains(items, value) end

---Whether one item passes.
---@param items table
---@param test table|fun(item: any, index: integer): any
---@return boolean
function list.any(items, test) end

---Whether all items pass.
---@param items table
---@param test table|fun(item: any, index: integer): any
---@return boolean
function list.all(items, test) end

---How many items pass; without a test how many there are.
---@param items table
---@param test? table|fun(item: any, index: integer): any
---@return integer
function list.count(items, test) end

---Sorted by a key; equal ones keep their order; missing keys come last. Raises on keys of two kinds, as 9 and "10".
---@param items table
---@param key string|fun(item: any, index: integer): any
---@param direction? "asc"|"desc"
---@return table
function list.sort_by(items, key, direction) end

---Sorted by value. Raises on values of two kinds, and on tables.
---@param items table
---@param direction? "asc"|"desc"
---@return table
function list.sort(items, direction) end

---Lists of items by key; without one under `missing` ("").
---@param items table
---@param key string|fun(item: any, index: integer): any
---@param missing? any
---@return table<any, table>
function list.group_by(items, key, missing) end

---How many items have each key; without one under `missing` ("").
---@param items table
---@param key string|fun(item: any, index: integer): any
---@param missing? any
---@return table<any, integer>
function list.count_by(items, key, missing) end

---Items by key; the last one of a key stays, those without are left out.
---@param items table
---@param key string|fun(item: any, index: integer): any
---@return table<any, any>
function list.index_by(items, key) end

---The first item of each value, or of each key.
---@param items table
---@param key? string|fun(item: any, index: integer): any
---@return table
function list.unique(items, key) end

---The values of a member, nil and null left out.
---@param items table
---@param key string|fun(item: any, index: integer): any
---@return table
function list.pluck(items, key) end

---The sum of a member (numbers or numeric text, not both), nil and null left out.
---@param items table
---@param key string|fun(item: any, index: integer): any
---@return number
function list.sum_by(items, key) end

---Items `from` to `to`, negative ones counted from the end.
---@param items table
---@param from? integer
---@param to? integer
---@return table
function list.slice(items, from, to) end

---The first n.
---@param items table
---@param n integer
---@return table
function list.take(items, n) end

---All but the first n.
---@param items table
---@param n integer
---@return table
function list.drop(items, n) end

---Lists of n items each, the last one shorter.
---@param items table
---@param n integer
---@return table[]
function list.chunk(items, n) end

---In reverse order.
---@param items table
---@return table
function list.reverse(items) end

---One list after another.
---@param ... table
---@return table
function list.concat(...) end

---Lists inside it taken apart, `depth` levels (1).
---@param items table
---@param depth? integer
---@return table
function list.flatten(items, depth) end

---Pairs of items, as many as the shorter has.
---@param a table
---@param b table
---@return table[]
function list.zip(a, b) end

---Whole numbers from, to, both included; list.range(3) is {1, 2, 3}.
---@param from integer
---@param to? integer
---@param step? integer
---@return integer[]
function list.range(from, to, step) end

---The keys of a table, sorted.
---@param t table
---@return table
function list.keys(t) end

---The values of a table, sorted by key.
---@param t table
---@return table
function list.values(t) end
