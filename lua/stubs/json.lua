---@meta
json = {}

---What a JSON null inside a list is; also the global `null`.
json.null = null

---Reads JSON text. A null member is absent; a null in a list is `null`.
---@param text string
---@return any
function json.decode(text) end

---Writes JSON text. An empty table is a list; json.object() makes an empty object.
---@param value any
---@param options? {indent?: integer, sort?: boolean}
---@return string
function json.encode(value, options) end

---Marks a table as a list, also while it is empty.
---@param t? table
---@return table
function json.array(t) end

---Marks a table as an object, also while it is empty.
---@param t? table
---@return table
function json.object(t) end

---Whether a value is nil or `null`.
---@param value any
---@return boolean
function json.is_null(value) end
