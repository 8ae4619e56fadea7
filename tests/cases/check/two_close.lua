--! expect: plan_syntax 3:23 one `local` statement can have one `<close>` variable only
function run(context)
  local a <close>, b <close> = nil, nil
  print(a, b)
  return context
end
