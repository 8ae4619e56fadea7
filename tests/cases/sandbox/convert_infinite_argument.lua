-- error: value_not_finite `echo`
function run() echo(-math.huge) end
