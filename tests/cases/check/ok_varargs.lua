local function join(separator, ...)
  local parts = table.pack(...)
  for i = 1, parts.n do parts[i] = tostring(parts[i]) end
  return table.concat(parts, separator, 1, parts.n), select("#", ...)
end

run = function(context)
  context.line = join(", ", table.unpack(context.items or {}))
  return context
end
