-- error: value_not_finite `echo.a[1]`
function run() echo({ a = { 0 / 0 } }) end
