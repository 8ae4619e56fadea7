-- One comparison of texts of so many NULs would take a good part of a second.
-- expect: limit_instructions NUL bytes
-- expect on piccolo: limit_instructions
-- expect on piccolo: result: true
-- limits: memory=64MiB
function run()
  local a = string.rep("\0", 40000000)
  return a <= a
end
