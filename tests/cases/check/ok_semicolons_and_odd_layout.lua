--! expect: warning plan_unreachable 4:61 never true
local a, b, c = 1, 2; local d
;;; d = a + b; function run(context) if d then return context; elseif a then
return { [1] = a; b, ["x y"] = c, [a + b] = d, } else while false do end end end
