-- context: {"a":1}
-- result: {"a":1,"b":2}
function run(context)
  context.b = 2
end
