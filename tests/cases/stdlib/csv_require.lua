-- A table is taken only with the columns that the plan needs.
equal(csv.parse("a, b\n1,2", { require = { "a", "b" } }), { { a = "1", b = "2" } })
equal(csv.parse("a\n1", { require = {} }), { { a = "1" } })
equal(csv.parse("a", { require = { "a" } }), {})
local function fails(text, options, ...)
  local ok, message = pcall(csv.parse, text, options)
  assert(not ok, text)
  for _, part in ipairs({ ... }) do
    assert(tostring(message):find(part, 1, true), tostring(message))
  end
end
fails("a,b\n1,2", { require = { "b", "total", "date" } }, 'there is no column "total", "date"; the columns are "a", "b"')
fails("Total\n1", { require = { "total" } }, 'no column "total"; the columns are "Total"')
fails("", { require = { "a" } }, 'no column "a"; there is no first line')
fails(string.rep("x,", 29) .. "x", { require = { "a" } }, '"x_20" and 10 more')
fails("1,2", { header = false, require = { "a" } }, "header = false")
fails("a", { require = "a" }, "option require must be a list of names, got")
fails("a", { require = { 1 } }, "option require must be a list of names, got")
