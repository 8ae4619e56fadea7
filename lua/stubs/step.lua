---@meta
---Runs fn at once as a named step and gives what it returns; a step that failed in all attempts gives a ToolError, as does one skipped because a step it depends on did not complete.
---@param name string
---@param fn fun(): any
---@param options? {depends_on?: string|string[], retries?: integer}
---@return any
function step(name, fn, options) end
