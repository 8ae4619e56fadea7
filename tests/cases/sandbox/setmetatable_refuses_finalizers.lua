-- result: [false,false,false,true]
function run()
  return {
    (pcall(setmetatable, {}, { __gc = print })), (pcall(setmetatable, {}, { __gc = false })),
    (pcall(setmetatable, {}, { __mode = "k" })), (pcall(setmetatable, {}, { __index = print })),
  }
end
