function run(context)
  local counts = {}
  for _, note in ipairs(context.notes) do
    local plain = text.lower(note)
    for _, mark in ipairs{"“", "”", "„", "«", "»", "–", "—", "…", "¿", "¡"} do
      plain = text.replace(plain, mark, " ")
    end
    plain = text.replace(text.replace(plain, "’", "'"), "‘", "'")
    plain = plain:gsub("[%p]", function(mark)
      return (mark == "'" or mark == "-") and mark or " "
    end)
    for _, word in ipairs(text.words(plain)) do
      word = word:gsub("^%p+", ""):gsub("%p+$", "")
      if word ~= "" then
        counts[word] = (counts[word] or 0) + 1
      end
    end
  end

  local answer = list.empty()
  for _, word in ipairs(list.keys(counts)) do
    if counts[word] >= 2 then
      table.insert(answer, {word = word, count = counts[word]})
    end
  end
  table.sort(answer, function(a, b)
    if a.count ~= b.count then
      return a.count > b.count
    end
    return a.word < b.word
  end)
  context.answer = answer
  return context
end
