--! expect: plan_bad_argument 3:21 `call_llm` takes at most 2 arguments (`prompt`, `max_tokens`); 3 came
function run(context)
  call_llm("a", 10, "c")
  return context
end
