--# a misspelt field of the context
--# context: {"customer": "Ada"}
function run(context)
  return {text = "Dear " .. context.custmer} --! plan_unknown_field
end

--# a field the context does not have, joined
--# context: {"name": "Ada"}
function run(context)
  return {text = "Dear " .. context.surname} --! plan_unknown_field
end

--# a field the context does not have, counted with
--# context: {"price": 3}
function run(context)
  return {total = context.price * context.pieces} --! plan_unknown_field
end

--# a field the context does not have, gone over
--# context: {"users": []}
function run(context)
  for _, order in ipairs(context.orders) do --! plan_unknown_field
    context.last = order
  end
  return context
end

--# a field the context does not have, indexed
--# context: {"user": {"name": "Ada"}}
function run(context)
  return {mail = context.account.email} --! plan_unknown_field
end

--# a misspelt field of an inner object
--# context: {"user": {"name": "Ada", "email": "a@example.com"}}
function run(context)
  local receipt = send_email(context.user.emial, "Hi", "x") --! plan_unknown_field
  return {ok = not receipt.error}
end

--# a misspelt field of an item
--# context: {"users": [{"name": "Ada"}, {"name": "Bob"}]}
function run(context)
  local names = {}
  for i, user in ipairs(context.users) do
    names[i] = user.nmae --! plan_unknown_field
  end
  return {names = names}
end

--# a misspelt field of the first item
--# context: {"users": [{"name": "Ada"}]}
function run(context)
  return {first = context.users[1].nam} --! plan_unknown_field
end

--# a field of an item that no item has
--# context: {"rows": [{"id": 1}, {"id": 2}]}
function run(context)
  local sum = 0
  for _, row in ipairs(context.rows) do
    sum = sum + row.amount --! plan_unknown_field
  end
  return {sum = sum}
end

--# through a local
--# context: {"config": {"mail": {"to": "a@example.com"}}}
function run(context)
  local mail = context.config.mail
  local receipt = send_email(mail.too, "Hi", "x") --! plan_unknown_field
  return {ok = not receipt.error}
end

--# deep inside
--# context: {"a": {"b": {"c": {"value": 1}}}}
function run(context)
  return {value = context.a.b.c.vlaue} --! plan_unknown_field
end

--# by brackets
--# context: {"first name": "Ada"}
function run(context)
  return {text = "Dear " .. context["last name"]} --! plan_unknown_field
end

--# another name for the parameter
--# context: {"city": "Oslo"}
function run(input)
  return {text = "In " .. input.town} --! plan_unknown_field
end

--# run as an assignment
--# context: {"city": "Oslo"}
run = function(ctx)
  return {text = "In " .. ctx.citty} --! plan_unknown_field
end

--# in a condition that compares
--# context: {"total": 5}
function run(context)
  if context.totl > 3 then --! plan_unknown_field
    return {much = true}
  end
  return {much = false}
end

--# looked at, but misspelt
--# context: {"threshold": 5}
function run(context)
  local limit = context.treshold or 10 --? plan_unknown_field
  return {limit = limit}
end

--# handed on
--# context: {"name": "Ada"}
function run(context)
  return {name = context.name, shoe_size = context.shoe_size} --? plan_unknown_field
end

--# called
--# context: {"name": "Ada"}
function run(context)
  return {text = context.render("x")} --! plan_unknown_field
end

--# the length of what is not there
--# context: {"users": [1, 2]}
function run(context)
  return {n = #context.members} --! plan_unknown_field
end

--# null indexed
--# context: {"account": null, "id": 1}
function run(context)
  return {mail = context.account.email} --! plan_nil_index
end

--# null inside indexed
--# context: {"user": {"manager": null, "name": "Ada"}}
function run(context)
  return {boss = context.user.manager.name} --! plan_nil_index
end

--# an optional field of an item indexed
--# context: {"users": [{"name": "Ada", "home": {"city": "Rome"}}, {"name": "Bob"}]}
function run(context)
  local cities = {}
  for i, user in ipairs(context.users) do
    cities[i] = user.home.city --? plan_nil_index
  end
  return cities
end

--# in a closure
--# context: {"users": [{"name": "Ada"}], "prefix": "Dr."}
function run(context)
  local names = list.map(context.users, function(user)
    return context.prefx .. " " .. user.name --! plan_unknown_field
  end)
  return names
end

--# by a method call
--# context: {"title": "Report"}
function run(context)
  return {title = context.titel:upper()} --! plan_unknown_field
end
