-- Reminds each customer of overdue invoices: one mail a customer, the invoices attached as CSV.
-- Context: today ("2026-03-31"); grace_days (optional, 7).
-- Tools: query_db (tables invoices, customers), send_email.
-- Leaves: reminded (addresses), failed (address and reason), total_overdue.
function run(context)
  local due_before = date.add(context.today, -(context.grace_days or 7))
  local invoices = query_db {
    sql = "SELECT c.email, c.name, i.number, i.due_on, i.amount "
      .. "FROM invoices i JOIN customers c ON c.id = i.customer_id "
      .. "WHERE i.paid_on IS NULL AND i.due_on < ? ORDER BY c.email, i.due_on",
    params = { due_before },
  }
  if invoices.error then
    error("the invoices cannot be read: " .. invoices.error)
  end

  local groups = list.group_by(invoices, "email")
  local reminded, failed = list.empty(), list.empty()
  for _, email in ipairs(list.keys(groups)) do
    local owed = groups[email]
    local body = string.format(
      "Dear %s,\n\n%d of your invoices are overdue, %s in sum. The list is attached.\n",
      owed[1].name, #owed, text.number(list.sum_by(owed, "amount"), 2)
    )
    local columns = { "number", "due_on", "amount" }
    local sent = send_email {
      to = email,
      subject = "Overdue invoices",
      body = body,
      attachments = { ["invoices.csv"] = csv.encode(owed, { columns = columns, escape_formulas = true }) },
    }
    -- One address that is refused must not keep the others from their reminder.
    if sent.error then
      table.insert(failed, { email = email, reason = sent.error })
    else
      table.insert(reminded, email)
    end
  end

  context.reminded = reminded
  context.failed = failed
  context.total_overdue = list.sum_by(invoices, "amount")
  return context
end
