function run(context)
  local names = list.empty()
  local function measure(node)
    local total = 0
    for _, child in ipairs(node.children or {}) do
      total = total + measure(child)
    end
    local size = node.size or total
    if size > 100 then
      table.insert(names, node.name)
    end
    return size
  end
  measure(context.tree)
  context.answer = list.sort(names)
  return context
end
