if true then
  function run(context)
    local t <const> = { n = 0 }
    t.n = t.n + 1
    return t
  end
end
