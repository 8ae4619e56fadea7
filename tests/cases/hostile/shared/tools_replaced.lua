-- The tools are replaced and called by what the host gave before.
-- expect: result: [1,"mine"]
function run()
  local given = echo
  function echo() return "mine" end
  return { given(1), echo(1) }
end
