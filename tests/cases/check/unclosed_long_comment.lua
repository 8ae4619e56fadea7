--! expect: plan_syntax 3:1 this long comment is never closed
function run(context) return context end
--[==[ open ]=]
