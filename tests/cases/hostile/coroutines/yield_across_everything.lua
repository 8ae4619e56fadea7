-- Yields from a comparator, a callback, a metamethod, an iterator.
-- expect: result: "ended"
-- expect on piccolo: engine_unsupported
function run()
  local function y() return coroutine.yield(1) end
  for _, f in ipairs({
    function() table.sort({ 3, 2, 1 }, function(a, b) y() return a < b end) end,
    function() string.gsub("abc", "%w", y) end,
    function() return tostring(setmetatable({}, { __tostring = function() y() return "x" end })) end,
    function() return setmetatable({}, { __index = y }).x end,
    function() for _ in y do break end end,
    function() return #setmetatable({}, { __len = function() y() return 1 end }) end,
    function() local x <close> = setmetatable({}, { __close = y }) end,
    function() return list.map({ 1 }, y) end,
    function() return pcall(y) end,
  }) do
    local co = coroutine.create(f)
    for i = 1, 10 do coroutine.resume(co) end
    coroutine.close(co)
  end
  return "ended"
end
