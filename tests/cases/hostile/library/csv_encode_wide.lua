-- Rows that each have other names: all are columns of all rows.
-- expect: limit_memory|limit_instructions|plan_error
function run()
  local rows = {}
  for i = 1, 5000 do rows[i] = { ["c" .. i] = i } end
  return #csv.encode(rows)
end
