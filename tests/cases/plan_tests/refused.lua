function run(context)
  query_dbb { table = "users" }
end
