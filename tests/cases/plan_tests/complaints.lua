-- Goes wrong in several ways.
function run(context)
  if context.index then
    local nothing = nil
    return nothing.field
  end
  if context.query then
    query_db { table = "users" }
  end
  return { n = 1, name = "x", items = { 1, 2 } }
end
