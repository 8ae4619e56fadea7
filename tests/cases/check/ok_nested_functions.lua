local M = {}

function M.clean(text)
  local function trim(s)
    return (s:gsub("^%s*(.-)%s*$", "%1"))
  end
  return trim(text)
end

function M:describe(user)
  return self.clean(user.name) .. " <" .. user.email .. ">"
end

function run(context)
  local lines = {}
  for _, user in ipairs(context.users) do
    lines[#lines + 1] = M:describe(user)
  end
  context.lines = lines
  return context
end
