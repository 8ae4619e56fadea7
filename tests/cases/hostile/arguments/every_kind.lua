-- A function, a coroutine, NaN, bytes, a failure, the tool itself: each is carried or refused by name.
-- expect: result: ["value_not_carried","value_not_carried","value_not_finite","carried","value_not_carried"]
function run()
  local out = {}
  for i, v in ipairs({ print, coroutine.create(print), 0 / 0, "\xFF\0", echo }) do
    local ok, e = pcall(echo, { v })
    out[i] = ok and "carried" or (e:find("JSON form", 1, true) and (v ~= v and "value_not_finite" or "value_not_carried")) or (v ~= v and "value_not_finite") or e
  end
  return out
end
