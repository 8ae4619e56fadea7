function run(context)
  local template = [==[
<h1>{{ title }}</h1>
]] is fine here, and so is os.time()
]==]
  --[[ os.execute("rm") in a comment
  spans lines ]]
  context.html = transform_data(context.rows, template, "html")
  return context
end
