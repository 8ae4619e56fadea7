-- A result whose every metamethod never returns: conversion calls none.
-- expect: result: {"a":1}
function run()
  local spin = function() while true do end end
  return setmetatable({ a = 1 }, { __index = spin, __len = spin, __pairs = spin, __tostring = spin, __eq = spin, __name = "x" })
end
