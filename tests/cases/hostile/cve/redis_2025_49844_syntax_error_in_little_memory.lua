-- CVE-2025-49844: the same with an error at the end, whose message names the chunk.
-- generates: source
-- limits: memory=2MiB
-- expect: limit_memory
-- expect: plan_syntax
-- expect on piccolo: limit_source
function run()
  local t = {}
  for i = 1, 4000 do t[i] = "'literal " .. i .. "'" end
  return "function run() return {" .. table.concat(t, ",") .. "} en"
end
