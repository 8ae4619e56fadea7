-- Looks at a list of sites and mails an alert only where one of them does not answer well.
-- Context: urls (list), alert_to (address).
-- Tools: fetch_url, send_email (only with failures).
-- Leaves: up (count), down (list of url, code, status, reason), alerted.
function run(context)
  local urls = context.urls or {}
  context.up, context.down, context.alerted = 0, list.empty(), false
  if #urls == 0 then
    return context
  end

  -- The sites are asked side by side. Each has its own result: an answer, or its own error value.
  local answers = fetch_url { urls = urls, detail = true }
  for _, url in ipairs(list.unique(urls)) do
    local answer = answers[url]
    if answer.error then
      local status = answer.code == "http_status" and answer.status or nil
      table.insert(context.down, { url = url, code = answer.code, status = status, reason = answer.error })
    else
      context.up = context.up + 1
    end
  end

  if #context.down > 0 then
    local lines = list.map(context.down, function(site)
      return "- " .. site.url .. ": " .. site.reason
    end)
    local subject = #context.down .. " of " .. (#context.down + context.up) .. " sites are down"
    local sent = send_email(context.alert_to, subject, text.join(lines, "\n"))
    if sent.error then
      error("the alert cannot be sent: " .. sent.error)
    end
    context.alerted = true
  end
  return context
end
