-- CVE-2022-24834: sizes in the JSON library overflowed for long texts. Here: texts of megabytes that grow sixfold when they are written, in arrays, as keys, nested.
-- expect: limit_memory|limit_instructions
function run()
  local s = string.rep("\1\"\\", 1000000)
  while true do
    local t = { s, { s, s }, { [s] = s } }
    json.encode(t)
  end
end
