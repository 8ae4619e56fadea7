-- Bodies are bytes; they go out as attachments.
function run(context)
  local users = query_db{ table = "users", where = "age > 30" }
  local urls = {}
  for _, user in ipairs(users) do urls[#urls + 1] = user.profile_image_url end
  local images = fetch_url(urls, true)
  if images.error then return { failed = images.code } end
  local bytes = 0
  for _, url in ipairs(urls) do
    local image = images[url]
    if type(image) == "string" then bytes = bytes + #image end
  end
  local receipt = send_email("admin@company.com", "pictures", "see attached", images)
  return { bytes = bytes, ok = receipt.error == nil }
end
