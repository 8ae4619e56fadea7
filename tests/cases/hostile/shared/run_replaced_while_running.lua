-- `run` replaces itself.
-- expect: result: 1
function run()
  function run() return 2 end
  return 1
end
