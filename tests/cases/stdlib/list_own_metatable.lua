-- engine: mlua (the library's Rust functions on the second engine call no metamethods of a plan)
-- Whatever a list's metatable refuses, the library does not get around.
local strict = setmetatable({}, { __len = function() error("a failed call") end, __index = function() error("a failed call") end })
for _, name in ipairs({ "map", "filter", "find", "sort_by", "group_by", "take", "chunk", "reverse", "count" }) do
  fails("a failed call", list[name], strict, tostring)
end
fails("a failed call", stats.sum, strict)
fails("a failed call", text.trim, strict)
fails("a failed call", json.array, strict)
fails("a failed call", list.is_list, strict)
