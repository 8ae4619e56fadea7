--! expect: plan_bad_argument 3:25 `fetch_url`: parameter `urls` is a function, which no tool can take
function run(context)
  context.x = fetch_url(function() return "x" end)
  return context
end
