-- result: "<a>-<b>"
function run()
  return (string.gsub("a-b", "%w", function(letter) return "<" .. echo(letter) .. ">" end))
end
