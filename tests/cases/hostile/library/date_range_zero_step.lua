-- A step of nothing, and one that goes the other way.
-- expect: result: "ended"
-- expect: plan_error
function run()
  for _, step in ipairs({ 0, -1, 0.5, {}, { days = 0 }, { months = 0, days = 0 } }) do pcall(date.range, "2026-01-01", "2026-12-31", step, "days") end
  return "ended"
end
