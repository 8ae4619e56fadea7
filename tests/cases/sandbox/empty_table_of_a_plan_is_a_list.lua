-- result: [[],[null,1],{"a":[]}]
function run()
  return { {}, { null, 1 }, { a = {} } }
end
