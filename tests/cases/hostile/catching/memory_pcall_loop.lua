-- Memory used up is caught, dropped and used up again.
-- expect: limit_memory
function run()
  while true do
    pcall(function() local t = {} while true do t[#t + 1] = { #t } end end)
  end
end
