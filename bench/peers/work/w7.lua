function run(context)
  while true do
  end
end
