--# a loop over a record
function run(context)
  local customer = crm.find_customer{id = 1}
  if customer.error then return {error = customer.error} end
  local n = 0
  for _ in ipairs(customer) do n = n + 1 end --! plan_wrong_kind
  return {n = n}
end

--# the length of a receipt
function run(context)
  local receipt = send_email("ops@example.com", "Hi", "x")
  if receipt.error then return {error = receipt.error} end
  return {sent = #receipt} --! plan_wrong_kind
end

--# the first of a record
function run(context)
  local customer = must(crm.find_customer{id = 1}, "customer 1")
  return {name = customer[1]} --! plan_wrong_kind
end

--# a map over a record inside a record
function run(context)
  local customer = must(crm.find_customer{id = 1}, "customer 1")
  return list.map(customer.address, function(line) return line end) --! plan_wrong_kind
end

--# two records joined as lists
function run(context)
  local first, second = must(crm.find_customer{id = 1}), must(crm.find_customer{id = 2})
  return list.concat(first, second) --! plan_wrong_kind
end

--# a loop over a part of the context
--# context: {"user": {"name": "Ada", "mails": ["a@example.com"]}}
function run(context)
  local n = 0
  for _ in ipairs(context.user) do n = n + 1 end --! plan_wrong_kind
  return {n = n}
end
