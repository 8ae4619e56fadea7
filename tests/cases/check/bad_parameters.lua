--! expect: plan_bad_parameter 5:1 `2nd` is no name of a member; write `-- luaplan: param(NAME, DEFAULT) what it is for`, the default as JSON
--! expect: plan_bad_parameter 6:1 the default of `month` is no JSON; write `-- luaplan: param(NAME, DEFAULT) what it is for`, the default as JSON
--! expect: plan_bad_parameter 8:1 the parameter `year` is declared twice
--! expect: plan_bad_parameter 9:1 write `-- luaplan: param(NAME, DEFAULT) what it is for`, the default as JSON
-- luaplan: param(2nd, 1)
-- luaplan: param(month, 'May')
-- luaplan: param(year, 2026) the year
-- luaplan: param(year, 2027)
-- luaplan: param year
function run(context)
  return context.year
end
