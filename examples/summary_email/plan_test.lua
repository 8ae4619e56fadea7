local USERS = {
  { name = "User 1", email = "user1@example.com", age = 34, profile_image_url = "https://img.example/1.png" },
  { name = "User 2", email = "user2@example.com", age = 41, profile_image_url = "https://img.example/2.png" },
}
local IMAGES = { ["https://img.example/1.png"] = "one", ["https://img.example/2.png"] = "two" }
local RECEIPT = { delivered = true, message_id = "<1@example.com>" }

-- What every test here starts from; a test's own mocks come before these.
mock("query_db", { returns = USERS })
mock("fetch_url", { returns = IMAGES })
mock("transform_data", { returns = "<p>two users</p>" })
mock("send_email", { returns = RECEIPT })

test("mails the users over thirty with their pictures", function()
  local run = run_plan({})
  expect.succeeded(run)
  expect.equal(run.result.receipt, RECEIPT)
  expect.calls(run, { "query_db", "fetch_url", "transform_data", "send_email" })
  expect.called(run, "query_db", { with = { table = "users", where = "age > 30" } })
  expect.called(run, "fetch_url", { with = { urls = { "https://img.example/1.png", "https://img.example/2.png" } } })
  expect.called(run, "send_email", {
    times = 1,
    with = { to = "admin@company.com", body = "<p>two users</p>", attachments = IMAGES },
  })
end)

test("mails an empty summary when nobody is over thirty", function()
  mock("query_db", { returns = {} })
  mock("fetch_url", { when = { urls = {} }, returns = {} })
  local run = run_plan({})
  expect.succeeded(run)
  expect.called(run, "send_email", { with = { attachments = {} } })
end)

test("sends nothing when the database is away", function()
  mock("query_db", { fails = { code = "database_unreachable", message = "no route to the database" } })
  local run = run_plan({})
  expect.failed(run, "tool_error_used", "no route to the database")
  expect.not_called(run, "send_email")
end)

test("a mail that was refused does not pass as sent", function()
  mock("send_email", { fails = "recipient_denied" })
  expect.failed(run_plan({}), "tool_error_ignored")
end)
