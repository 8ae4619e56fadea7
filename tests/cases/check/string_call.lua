--! expect: plan_bad_argument 4:15 `transform_data` needs `template` (string), which is not given
function run(context)
  context.x = call_llm"hello"
  context.y = transform_data"x"
  return context
end
