local function member(node, words)
  for _, word in ipairs(words) do
    for _, key in ipairs(list.keys(node)) do
      if text.contains(text.lower(tostring(key)), word) then
        return node[key]
      end
    end
  end
end

function run(context)
  local body = must(fetch_url("{web}/weather.json"), "the weather could not be fetched")
  local data = json.decode(body)
  local answer = json.object()
  local found = false

  local function consider(city, day, max)
    if type(max) ~= "number" or not city then
      return
    end
    found = true
    local best = answer[city]
    if not best or max > best.max or (max == best.max and day < best.day) then
      answer[city] = {day = day, max = max}
    end
  end

  local function walk(node, city)
    if list.is_list(node) then
      for _, item in ipairs(node) do
        if type(item) == "table" then
          walk(item, city)
        end
      end
      return
    end
    local name = member(node, {"city", "name", "place"})
    if type(name) == "string" then
      city = name
    end
    local day, max = member(node, {"day", "date", "time"}), member(node, {"max", "high"})
    if type(day) == "string" and type(max) == "number" then
      consider(city, day, max)
    elseif type(day) == "table" and type(max) == "table" then
      for i, d in ipairs(day) do
        consider(city, d, max[i])
      end
    else
      for _, key in ipairs(list.keys(node)) do
        local value = node[key]
        if tostring(key):find("^%d%d%d%d%-%d%d%-%d%d$") then
          consider(city, key, type(value) == "table" and member(value, {"max", "high"}) or value)
        elseif type(value) == "table" then
          walk(value, city or key)
        end
      end
    end
  end

  walk(data.cities or data.weather or data.data or data, nil)
  if not found then
    error("weather.json has another shape: " .. text.truncate(body, 400))
  end
  context.answer = answer
  return context
end
