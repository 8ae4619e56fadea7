-- Greets whoever the context names.
function run(context)
  local name = text.trim(context.name or "")
  if name == "" then
    name = "stranger"
  end
  context.greeting = "Hello, " .. name .. "!"
  return context
end
