function run(context)
  for i = 1, 10 do
    for j = 1, 10 do
      if i * j == 42 then
        context.found = { i, j }
        goto done
      end
      while true do break end
    end
  end
  ::done::
  do
    local x = 1
    goto skip
    ::skip::
  end
  return context
end
