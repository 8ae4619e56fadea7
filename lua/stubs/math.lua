---@meta
---Rounds half away from zero, by the number as it prints; a whole number without digits.
---@param x number|string
---@param digits? integer
---@return number
function math.round(x, digits) end
