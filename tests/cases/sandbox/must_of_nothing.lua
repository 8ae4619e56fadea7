-- error: must_failed the answer: there is none (nil)
function run()
  return must(nothing(), "the answer")
end
