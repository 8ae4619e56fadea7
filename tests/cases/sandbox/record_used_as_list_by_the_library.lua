-- context: {"items": [3, 4]}
-- result: ["list.map needs a list", "list.each needs a list", "list.filter needs a list", "list.count needs a list", "list.sort_by needs a list", "list.concat needs a list", "list.zip needs a list", "stats.sum needs a list", "table.concat needs a list", "table.unpack needs a list", "table.sort needs a list", "list.map needs a list"]
function run(context)
  local record = echo({ items = { 3, 4 } })
  local function same(item) return item end
  local function message(f, ...)
    local _, reason = pcall(f, ...)
    return (tostring(reason):match("%S+ needs a list"))
  end
  return {
    message(list.map, record, same), message(list.each, record, same), message(list.filter, record, same),
    message(list.count, record), message(list.sort_by, record, "a"), message(list.concat, { 1 }, record),
    message(list.zip, { 1 }, record), message(stats.sum, record), message(table.concat, record, ","),
    message(table.unpack, record), message(table.sort, record), message(list.map, context, same),
  }
end
