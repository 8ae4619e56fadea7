--! expect: plan_forbidden_global 2:14 `require` does not exist in the sandbox
local json = require("json")

function run(context)
  return json.encode(context)
end
