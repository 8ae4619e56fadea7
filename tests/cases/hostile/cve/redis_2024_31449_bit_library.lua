-- CVE-2024-31449 was in a library of bit operations: there is none here, the operators take its place and refuse what is no integer.
-- expect: result: [null,null,false,false,0,0]
function run()
  return {
    _G["bi" .. "t"] == nil and null or 1, _G["bit" .. "32"] == nil and null or 1,
    (pcall(function() return 1.5 | 1 end)), (pcall(function() return 1e308 & 1 end)),
    1 << 64, 1 >> math.mininteger,
  }
end
