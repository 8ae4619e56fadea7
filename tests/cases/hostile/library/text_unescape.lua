-- Entities without end, unknown, numeric beyond all code points.
-- expect: limit_instructions|limit_memory
function run()
  local s = string.rep("&amp;#x110000;&#99999999999999999999;&", 20000) .. string.rep("&", 200000)
  while true do
    text.unescape_html(s)
    text.escape_html(s)
  end
end
