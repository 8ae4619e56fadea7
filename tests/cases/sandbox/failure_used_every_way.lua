-- result: [false,false,false,false,false,false,false,false,false,false,false,false,false,false,false,false,false,"no"]
function run()
  local r = fail("no")
  local function raises(f)
    local ok, why = pcall(f)
    assert(ok or tostring(why):find("call 1 (fail, line 3) failed", 1, true), why)
    return ok
  end
  return {
    raises(function() return r[1] end),
    raises(function() r.x = 1 end),
    raises(function() return #r end),
    raises(function() return r() end),
    raises(function() return r + 1 end),
    raises(function() return 1 .. r end),
    raises(function() return r < r end),
    raises(function() return r == {} end),
    raises(function() for _ in pairs(r) do end end),
    raises(function() for _ in ipairs(r) do end end),
    raises(function() return next(r) end),
    raises(function() return rawget(r, "error") end),
    raises(function() return rawset(r, "error", 1) end),
    raises(function() return rawlen(r) end),
    raises(function() table.insert(r, 1) end),
    raises(function() table.sort(r) end),
    raises(function() setmetatable(r, nil) end),
    r.error,
  }
end
