--! expect: plan_bad_argument 3:52 `transform_data`: parameter `format` must be one of "html", "markdown", "text", "json", "csv", but is a string of 3 characters
function run(context)
  context.x = transform_data(context.rows, "list", "pdf")
  return context
end
