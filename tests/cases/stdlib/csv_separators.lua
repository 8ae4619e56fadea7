-- Recognised where nothing else can be meant, named where it can.
equal(csv.parse("a;b\n1;2\n3;4"), { { a = "1", b = "2" }, { a = "3", b = "4" } })
equal(csv.parse("a\tb\n1\t2"), { { a = "1", b = "2" } })
equal(csv.parse("price;name\n1,50;Ada\n2,75;Bo"), { { price = "1,50", name = "Ada" }, { price = "2,75", name = "Bo" } })
equal(csv.parse("a;b"), {})
equal(csv.parse("\u{feff}a;b\r\n1;2\r\n"), { { a = "1", b = "2" } })
equal(csv.parse('"a;x";b\n1;2'), { { ["a;x"] = "1", b = "2" } })
equal(csv.parse("1;2\n3;4", { header = false, numbers = true }), { { 1, 2 }, { 3, 4 } })
-- A comma in the first line is a separator, as it always was.
equal(csv.parse("a,b;c\n1,2"), { { a = "1", ["b;c"] = "2" } })
equal(csv.parse('"a;b"\n1'), { { ["a;b"] = "1" } })
equal(csv.parse("a\n1;2"), { { a = "1;2" } })
equal(csv.parse("note\nx"), { { note = "x" } })
-- Not borne out: named with the option to give.
local function fails(text, ...)
  local ok, message = pcall(csv.parse, text)
  assert(not ok, text)
  for _, part in ipairs({ ... }) do
    assert(tostring(message):find(part, 1, true), tostring(message))
  end
end
fails("a;b\n1", 'no comma, but ";"', 'separator = ";"', 'separator = ","')
fails("a;b\tc\n1;2\t3", '";" and "\\t"')
fails("a\tb\n1", 'but "\\t"', 'separator = "\\t"')
equal(csv.parse("a;b\n1", { separator = "," }), { { ["a;b"] = "1" } })
