-- A shebang line.
-- generates: source
-- expect: result: 1
-- expect: plan_syntax
function run() return "#!/usr/bin/env lua\nfunction run() return 1 end" end
