-- The string and utf8 libraries, on natives.

local host, core = ...
local native = host.native
local stock_type, tostring, select = core.stock_type, tostring, select
local pack, unpack, byte = table.pack, table.unpack, native.byte

for _, name in ipairs({
  "byte", "char", "len", "lower", "pack", "packsize", "reverse", "sub", "unpack", "upper",
}) do
  string[name] = native[name]
end
tonumber = native.tonumber

local TEXT_AS_IT_IS = { string = true, number = true, boolean = true, ["nil"] = true }
local LETTER_S = 115 -- as byte gives it
local format, format_letters = native.format, native.format_letters

-- Natives see no tables: values for `%s` with a metamethod are replaced by their text before.
function string.format(...)
  local count = stock_type((...)) == "string" and select("#", ...) or 0
  for place = 2, count do
    if not TEXT_AS_IT_IS[stock_type((select(place, ...)))] then
      local letters = format_letters((...))
      local values = pack(...)
      for each = place, count do
        if byte(letters, each - 1) == LETTER_S and not TEXT_AS_IT_IS[stock_type(values[each])] then
          values[each] = tostring(values[each])
        end
      end
      return format(unpack(values, 1, count))
    end
  end
  return format(...)
end

for _, name in ipairs({ "char", "codepoint", "len", "offset" }) do
  utf8[name] = native["utf8." .. name]
end

utf8.charpattern = "[\0-\x7F\xC2-\xFD][\x80-\xBF]*"

local codes, next_code, next_code_lax = native["utf8.codes"], native["utf8.next"], native["utf8.next_lax"]

function utf8.codes(text, ...)
  codes(text)
  return (...) and next_code_lax or next_code, text, 0
end
