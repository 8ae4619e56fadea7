function run(context)
  local piece = string.rep("0123456789abcdef", 16)
  local text = ""
  for i = 1, 4096 do
    text = text .. piece
  end
  return #text
end
