--! expect: plan_bad_argument 3:52 `transform_data`: parameter `format` must be one of "html", "markdown", "text", "json", "csv"; a string of 3 characters came
function run(context)
  context.x = transform_data(context.rows, "list", "pdf")
  return context
end
