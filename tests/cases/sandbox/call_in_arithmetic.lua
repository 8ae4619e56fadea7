-- result: ["add","sub","mul","div","mod","pow","unm","idiv","band","bor","bxor","shl","shr","bnot"]
function run()
  local mt = {}
  for _, event in ipairs({ "add", "sub", "mul", "div", "mod", "pow", "unm", "idiv", "band", "bor", "bxor", "shl", "shr", "bnot" }) do
    mt["__" .. event] = function() return echo(event) end
  end
  local function all(t)
    local first = { t + 1, t - 1, t * 1, 1 / t, t % 1, t ^ 1, -t }
    local second = { t // 1, t & 1, t | 1, t ~ 1, t << 1, 1 >> t, ~t }
    return list.concat(first, second)
  end
  return parallel({ function() return all(setmetatable({}, mt)) end })[1]
end
