-- CVE-2025-49844: the name of a chunk was freed by the collector while the parser still used it. Here: a source that makes the compiler allocate as much as it can, in little memory.
-- generates: source
-- limits: memory=2MiB
-- expect: limit_memory
-- expect: plan_syntax
-- expect: result: 1
-- expect on piccolo: limit_source
function run()
  local t = {}
  for i = 1, 1000 do t[i] = "local function f" .. i % 150 .. "() return 'text number " .. i .. "' end" end
  return "function run() do " .. table.concat(t, " end do ") .. " end return 1 end"
end
