---@meta
csv = {}

---Reads CSV: rows by the names of the first line, or lists with header = false. numbers = true turns plain numbers into numbers; require = {"name", …} raises where one of these columns is missing.
---@param text string
---@param options? {header?: boolean, separator?: string, numbers?: boolean, require?: string[]}
---@return table[]
function csv.parse(text, options) end

---Writes CSV from rows of named values or lists. For spreadsheets of untrusted data set escape_formulas = true.
---@param rows table[]
---@param options? {columns?: string[], header?: boolean, separator?: string, newline?: string, escape_formulas?: boolean}
---@return string
function csv.encode(rows, options) end
