-- error: record_used_as_list fields `a`, `b`, `c`, `d`, `e`, `f`, `g`, `h`; use one
function run()
  local record = json.decode('{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}')
  for _ in ipairs(echo(record)) do end
end
