-- Branches that never call a tool and never end.
-- expect: limit_instructions
function run()
  parallel({ function() while true do end end, function() while true do end end })
end
