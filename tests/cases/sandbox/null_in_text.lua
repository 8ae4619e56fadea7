-- context: [null]
-- result: ["null","userdata",true]
function run(context)
  return { tostring(context[1]), type(context[1]), context[1] == null }
end
