-- The context is put into itself.
-- expect: value_cyclic
function run(context) context.context = context end
