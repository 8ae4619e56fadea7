-- CVE-2022-33099 (Lua 5.4.0 to 5.4.4): an error raised while the stack overflows wrote beyond it. Here: errors at full depth, in messages, handlers and closers.
-- expect: limit_depth|plan_error|limit_instructions|limit_memory
-- expect on piccolo: engine_unsupported
-- limits: depth=1000000
local function f(s)
  local t <close> = setmetatable({}, { __close = function() error(s .. "closed") end })
  return f(s .. "x") .. nil
end
function run()
  for i = 1, 5 do xpcall(f, function(e) return e .. {} end, "") end
  return f("")
end
