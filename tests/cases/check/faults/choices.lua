--# neither a table nor a statement
function run(context)
  local rows = query_db{where = "age > ?", params = {30}} --! plan_bad_argument
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# nothing at all
function run(context)
  local rows = query_db() --! plan_bad_argument
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# an empty table
function run(context)
  local rows = query_db{} --! plan_bad_argument
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# a table and a statement
function run(context)
  local rows = query_db{table = "users", sql = "SELECT * FROM users"} --! plan_bad_argument
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# a statement that is nil
function run(context)
  local rows = query_db{sql = nil, limit = 3} --! plan_bad_argument
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# neither, through pcall
function run(context)
  local ok, rows = pcall(query_db, {limit = 5}) --! plan_bad_argument
  if not ok then return {error = "failed"} end
  return {n = rows.error and 0 or #rows}
end

--# neither, through retry
function run(context)
  local rows = retry(3, query_db, {columns = {"name"}, limit = 5}) --! plan_bad_argument
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# neither, in a table built before
function run(context)
  local request = {where = "age > 3"}
  request.limit = 10
  local rows = query_db(request) --! plan_bad_argument
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end

--# neither, only a database
function run(context)
  local rows = query_db{database = "main"} --! plan_bad_argument
  if rows.error then return {error = rows.error} end
  return {n = #rows}
end
