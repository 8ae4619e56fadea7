--! expect: plan_bad_step 16:8 there is a step `load` before
--! expect: plan_bad_step 17:56 there is no step `laod` | did you mean `load`?
--! expect: plan_bad_step 18:58 step `late` is declared after this one
--! expect: plan_bad_step 20:56 in a circle: `one` → `two` → `three` → `one`
--! expect: plan_bad_step 23:56 in a circle: `self` → `self`
--! expect: plan_bad_step 24:8 a step's name is empty
--! expect: plan_bad_step 25:45 no option `depend_on` | did you mean `depends_on`?
--! expect: plan_bad_step 26:56 from 0 to 9
--! expect: plan_bad_step 27:3 without a function
--! expect: plan_bad_step 28:18 with the result of a call, which is made before the step
--! expect: warning plan_bad_step 30:10 a loop declares step `turn`
--! expect: plan_bad_step 32:8 control character
function run(context)
  local f = function() return 1 end
  step("load", f)
  step("load", f)
  step("typo", function() return 1 end, { depends_on = "laod" })
  step("early", function() return 1 end, { depends_on = {"late"} })
  step("late", f)
  step("one", function() return 1 end, { depends_on = {"two"} })
  step("two", f, { depends_on = {"three"} })
  step("three", f, { depends_on = {"one"} })
  step("self", function() return 1 end, { depends_on = "self" })
  step("", f)
  step("option", function() return 1 end, { depend_on = {"load"} })
  step("retried", function() return 1 end, { retries = 10 })
  step("nothing")
  step("called", query_db{ table = "users" })
  for i = 1, 2 do
    step("turn", f)
  end
  step("a\nb", f)
  return context
end
