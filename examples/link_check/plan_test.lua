local PAGE = "https://site.example/index.html"
local HTML = [[
  <a href="/good">in</a> <a class="x" href='https://other.example/a?x=1&amp;y=2'>out</a>
  <a href="/good#part">again</a> <a href="#top">top</a> <a href="mailto:x@example.com">mail</a>
]]

test("asks for each link once and lists the dead ones", function()
  mock("fetch_url", { when = { method = "HEAD" }, returns = {
    ["https://site.example/good"] = "",
    ["https://other.example/a?x=1&y=2"] = failure("http_status", { message = "status 404", status = 404 }),
  } })
  mock("fetch_url", { when = { urls = { PAGE } }, returns = { [PAGE] = HTML } })
  mock("transform_data", { returns = "| link | page | reason |" })
  local run = run_plan({ pages = { PAGE } })
  expect.succeeded(run)
  expect.equal(run.result.checked, 2)
  expect.equal(run.result.dead, { { link = "https://other.example/a?x=1&y=2", page = PAGE, reason = "status 404" } })
  expect.called(run, "fetch_url", {
    times = 1,
    with = { method = "HEAD", urls = { "https://site.example/good", "https://other.example/a?x=1&y=2" } },
  })
end)

test("a page that cannot be fetched is itself dead", function()
  mock("fetch_url", { returns = { [PAGE] = failure("fetch_failed", { message = "no such host" }) } })
  mock("transform_data", { returns = "| … |" })
  local run = run_plan({ pages = { PAGE } })
  expect.succeeded(run)
  expect.equal(run.result.dead, { { link = PAGE, page = PAGE, reason = "no such host" } })
  expect.called(run, "fetch_url", { times = 1 })
end)

test("asks in groups and stops at the most links", function()
  local links = list.map(list.range(50), function(n) return '<a href="/p' .. n .. '">x</a>' end)
  mock("fetch_url", { when = { method = "HEAD" }, returns = {} })
  mock("fetch_url", { returns = { [PAGE] = text.join(links, "\n") } })
  local run = run_plan({ pages = { PAGE }, links_max = 45 })
  expect.succeeded(run)
  expect.equal(run.result.checked, 45)
  expect.called(run, "fetch_url", { times = 3, with = { method = "HEAD" } })
  expect.equal(run.result.report, "No dead links.\n")
end)

test("a report that cannot be written fails the run", function()
  mock("fetch_url", { returns = { [PAGE] = failure("fetch_failed") } })
  mock("transform_data", { fails = "template_failed" })
  expect.failed(run_plan({ pages = { PAGE } }), "plan_error", "the report cannot be written")
end)

test("no pages, no links", function()
  mock("fetch_url", { returns = {} })
  local run = run_plan({})
  expect.succeeded(run)
  expect.equal(run.result.checked, 0)
end)
