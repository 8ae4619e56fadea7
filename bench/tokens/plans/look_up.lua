function run(context)
  local invited, unknown = {}, {}
  for _, name in ipairs({"Ann", "Ben", "Cid", "Dee", "Eve", "Fay", "Gus"}) do
    local found = memory.open_nodes{names = {name}}
    if found.error then error(found.error) end
    if #found.entities > 0 then
      local added = memory.add_observations{observations = {{entityName = name, contents = {"invited"}}}}
      if added.error then error(added.error) end
      invited[#invited + 1] = name
    else
      unknown[#unknown + 1] = name
    end
  end
  return {invited = invited, unknown = unknown}
end
