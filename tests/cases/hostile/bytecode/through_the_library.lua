-- Bytecode given to everything that takes text runs nowhere.
-- expect: result: "ended"
function run()
  local code = "\27Lua\84\0\25\147\r\n\26\n\4\8\8"
  for _, library in ipairs({ string, json, csv, text, date, utf8, table, math, stats, list }) do
    for name, f in pairs(library) do
      if type(f) == "function" then
        pcall(f, code)
        pcall(f, code, code)
      end
    end
  end
  return "ended"
end
