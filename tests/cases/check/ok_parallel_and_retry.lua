function run(context)
  local results = parallel{
    function() return query_db{ table = "users" } end,
    function() return fetch_url("https://example.com/a") end,
  }
  local answer = retry(3, function()
    return call_llm("Summarise: " .. json.encode(results))
  end)
  context.answer = answer
  return context
end
