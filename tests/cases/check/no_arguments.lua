--! expect: plan_bad_argument 4:15 `call_llm` needs `prompt` (string), which is not given
--! expect: plan_bad_argument 5:15 `call_llm` needs `prompt` (string), which is not given
function run(context)
  context.x = call_llm()
  context.y = call_llm{}
  return context
end
