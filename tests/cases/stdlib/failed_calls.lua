-- The result of a failed call raises its own error wherever the library is given one.
local function each(fn, ...)
  local failed = fail()
  fails("(fail, line", fn, failed, ...)
  fails("failed: it broke", fn, failed, ...)
  assert(failed.error == "it broke")
end
for _, name in ipairs({ "trim", "lines", "len", "upper", "truncate", "escape_html", "is_blank", "wrap" }) do
  each(text[name], 1)
end
each(text.join, ",")
each(json.encode)
each(json.decode)
each(json.array)
each(json.object)
each(csv.parse)
each(csv.encode)
each(date.add, 1)
each(date.parts)
each(date.make)
for _, name in ipairs({ "map", "each", "filter", "find", "any", "all", "reduce", "partition", "sort_by", "group_by" }) do
  each(list[name], tostring)
end
for _, name in ipairs({ "sort", "unique", "reverse", "flatten", "keys", "values", "is_list", "count", "concat" }) do
  each(list[name])
end
for _, name in ipairs({ "sum", "mean", "median", "min", "max", "stdev", "mode", "summary" }) do
  each(stats[name])
end
local failed = fail()
fails("it broke", list.contains, { failed }, {})
fails("it broke", stats.sum, { { n = 1 }, failed }, "n")
fails("it broke", list.map, { failed }, "name")
local cell = fail()
fails("it broke", csv.encode, { { cell } })
assert(cell.error)
local member = fail()
fails("it broke", json.encode, { { member } })
assert(member.error)
assert(failed.error)
