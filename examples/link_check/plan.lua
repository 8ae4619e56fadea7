-- Finds dead links: fetches pages, collects the links in them and asks for each link once.
-- Context: pages (list of URLs); links_max (optional, 100).
-- Tools: fetch_url, transform_data.
-- Leaves: checked (count), dead (list of link, page, reason), report (Markdown).
local function absolute(link, page)
  if link:match("^https?://") then
    return link
  end
  if link:match("^/[^/]") or link == "/" then
    return page:match("^https?://[^/]+") .. link
  end
  return nil -- mail addresses, anchors and the like
end

function run(context)
  local found, dead = {}, list.empty()
  for page, body in pairs(fetch_url(context.pages or {}, true)) do
    if type(body) == "string" then
      for href in body:gmatch("<a%s[^>]-href%s*=%s*[\"']([^\"'#]+)") do
        local link = absolute(text.unescape_html(href), page)
        if link then
          table.insert(found, { link = link, page = page })
        end
      end
    else
      table.insert(dead, { link = page, page = page, reason = body.error })
    end
  end

  local links = list.take(list.unique(found, "link"), context.links_max or 100)
  for _, group in ipairs(list.chunk(links, 20)) do
    -- luaplan: allow(plan_call_in_loop) twenty at a time, so as not to flood one site
    local answers = fetch_url { urls = list.pluck(group, "link"), batch = true, method = "HEAD" }
    for _, item in ipairs(group) do
      local answer = answers[item.link]
      if answer ~= nil and type(answer) ~= "string" then
        table.insert(dead, { link = item.link, page = item.page, reason = answer.error })
      end
    end
  end

  local report = "No dead links.\n"
  if #dead > 0 then
    report = transform_data { input = dead, format = "markdown" }
    if type(report) ~= "string" then
      error("the report cannot be written: " .. report.error)
    end
  end
  context.checked, context.dead, context.report = #links, dead, report
  return context
end
