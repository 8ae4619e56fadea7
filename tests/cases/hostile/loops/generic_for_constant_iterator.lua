-- An iterator that never says nil.
-- expect: limit_instructions
function run() for x in function() return 1 end do end end
