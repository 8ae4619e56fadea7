--! expect: plan_syntax 2:1 a comment does not begin with `//` in Lua
// sums up
function run(context) return context end
