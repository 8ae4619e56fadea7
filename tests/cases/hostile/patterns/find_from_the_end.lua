-- An init far beyond the subject, and far before it.
-- expect: result: [0,0,0,1]
function run()
  local function n(...) return select("#", ...) == 1 and 0 or 1 end
  return {
    n(string.find("abc", "c", math.maxinteger)), n(string.find("", "", 3)),
    n(string.find("abc", "d", math.mininteger)), n(string.find("abc", "a", math.mininteger)),
  }
end
