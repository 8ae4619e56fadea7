-- Messages of caught errors, each remembered by the host.
-- expect: limit_instructions|limit_memory
function run()
  local i = 0
  while true do
    i = i + 1
    pcall(json.decode, "{" .. i)
    pcall(error, "message number " .. i)
  end
end
