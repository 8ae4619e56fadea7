function run(context)
  local list = files.read_text_file{path = "FOLDER/people.txt"}
  if list.error then error(list.error) end
  local entities, relations, companies = {}, {}, {}
  for name, company, job in list.content:gmatch("([^;\n]+);([^;\n]+);([^;\n]+)") do
    entities[#entities + 1] = {name = name, entityType = "person", observations = {job}}
    if not companies[company] then
      companies[company] = true
      entities[#entities + 1] = {name = company, entityType = "company", observations = {}}
    end
    relations[#relations + 1] = {from = name, to = company, relationType = "works_at"}
  end
  local made = memory.create_entities{entities = entities}
  if made.error then error(made.error) end
  local linked = memory.create_relations{relations = relations}
  if linked.error then error(linked.error) end
  return {entities = #made.entities, relations = #linked.relations}
end
