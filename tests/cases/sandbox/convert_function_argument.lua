-- error: value_not_carried `echo.f` is a function
function run() echo({ f = function() end }) end
