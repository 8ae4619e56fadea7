//! No answer is longer than `server.mcp_result_max`, its data is in it once, and all of it can be read.

use rmcp::RoleClient;
use rmcp::model::CallToolResult;
use rmcp::service::RunningService;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use super::http::connect;
use super::serve::Serving;
use super::{Session, Watcher, call, command, done, refused};
use crate::http_support::PATIENCE;

const ANSWER_BYTES_MAX: usize = 40 * 1024;

/// What a client may find around the data.
const ENVELOPE_BYTES: usize = 8 * 1024;

const ROWS: &str = r#"
function run(context)
  local rows = {}
  for id = 1, 5000 do
    rows[id] = {id = id, name = "customer " .. id, note = ("\"x\"\n"):rep(20), country = "€"}
  end
  print(("a line of output\n"):rep(10000))
  return {rows = rows, count = #rows}
end"#;

type Client = RunningService<RoleClient, Watcher>;

/// The data of an answer, whose size on the wire is judged.
fn bounded(result: CallToolResult) -> Json {
    let bytes = serde_json::to_string(&result).unwrap().len();
    assert!(bytes < ANSWER_BYTES_MAX + ENVELOPE_BYTES, "{bytes} bytes");
    done(result)
}

/// Reads on by the handle that an answer gives, to the end.
async fn read_on(client: &Client, head: &Json, handle: &Json) -> Vec<Json> {
    let mut all = vec![head.clone()];
    let mut arguments = handle.clone();
    loop {
        let page = bounded(call(client, "read_result", arguments.clone()).await);
        assert!(page.get("shortened").is_none(), "{page}");
        all.push(page["part"].clone());
        match page["next"].as_u64() {
            Some(next) => arguments["offset"] = next.into(),
            None => return all,
        }
    }
}

async fn a_long_result_is_short_and_can_be_read(client: &Client) {
    let ran = call(client, "run_lua", json!({ "program": ROWS })).await;
    assert!(ran.content[0].as_text().unwrap().text.len() < 1_024, "the text is no second copy");
    let answer = bounded(ran);
    assert_eq!((&answer["status"], &answer["result"]["count"]), (&json!("succeeded"), &json!(5_000)));
    assert_eq!(answer["shortened"], json!(["/result/rows", "/printed"]));
    let rows = &answer["result"]["rows"];
    assert_eq!((&rows["type"], &rows["items"]), (&json!("array"), &json!(5_000)));
    assert!(rows["shape"].as_str().unwrap().contains("id: integer"), "{rows}");
    let parts = read_on(client, &rows["head"], &rows["read_on"]).await;
    let read: Vec<&Json> = parts.iter().flat_map(|part| part.as_array().unwrap()).collect();
    let whole: Vec<Json> = (1..=5_000)
        .map(|id| json!({ "id": id, "name": format!("customer {id}"), "note": "\"x\"\n".repeat(20), "country": "€" }))
        .collect();
    assert!(read.iter().copied().eq(whole.iter()), "{} of {} rows", read.len(), whole.len());
    let printed = &answer["printed"];
    let parts = read_on(client, &printed["head"], &printed["read_on"]).await;
    let text: String = parts.iter().map(|part| part.as_str().unwrap()).collect();
    assert_eq!(text, format!("{}\n", "a line of output\n".repeat(10_000)));

    // The same run is as short wherever it is shown.
    let run = &answer["run_id"];
    bounded(call(client, "run_status", json!({ "run_id": run })).await);
    let records = bounded(call(client, "audit", json!({ "run": run, "limit": 1000 })).await);
    let finished = bounded(call(client, "audit", json!({ "run": run, "event": "run_finished" })).await);
    let record = &finished["records"][0]["result"]["rows"];
    assert_eq!(record["items"], 5_000, "{records}");
    let parts = read_on(client, &record["head"], &record["read_on"]).await;
    assert_eq!(parts.iter().map(|part| part.as_array().unwrap().len()).sum::<usize>(), 5_000);
    for (arguments, code) in [
        (json!({ "run": run, "path": "/result/row" }), "not_found"),
        (json!({ "run": run, "path": "/result/rows/5000" }), "not_found"),
        (json!({ "run": run, "path": "result" }), "bad_request"),
        (json!({ "run": run, "path": format!("/{}", "x".repeat(100_000)) }), "bad_request"),
        (json!({ "run": run, "path": "/result/rows", "offset": 5001 }), "bad_request"),
        (json!({ "run": run, "path": "/records/1000000" }), "not_found"),
        (json!({ "run": "nonsense" }), "bad_request"),
    ] {
        assert_eq!(refused(call(client, "read_result", arguments.clone()).await).0, code, "{arguments}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_rows_are_short_and_whole_over_pipes() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(folder.path(), &[]).await;
    a_long_result_is_short_and_can_be_read(&session.client).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn five_thousand_rows_are_short_and_whole_over_http() {
    let serving = Serving::start(&[]).await;
    let client = connect(&serving, None).await;
    a_long_result_is_short_and_can_be_read(&client).await;
    client.cancel().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_and_explanations_are_bounded_and_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(folder.path(), &[]).await;
    let program = format!("-- {}\nfunction run() error((\"e\"):rep(100000)) end", "c".repeat(50_000));
    let failed = call(&session.client, "run_lua", json!({ "program": program })).await;
    assert!(serde_json::to_string(&failed).unwrap().len() < ANSWER_BYTES_MAX + ENVELOPE_BYTES);
    let run = failed.structured_content.unwrap()["run_id"].clone();
    let proposed = bounded(session.call("audit", json!({ "run": run, "event": "plan_proposed" })).await);
    assert_eq!(proposed["records"][0]["event"], "plan_proposed");
    let source = &proposed["records"][0]["source"];
    assert!(source["bytes"].as_u64() > Some(50_000), "{source}");
    let mut text = source["head"].as_str().unwrap().to_owned();
    for part in &read_on(&session.client, &json!(""), &source["read_on"]).await {
        text.push_str(part.as_str().unwrap());
    }
    assert_eq!(text, program);
    let plan = bounded(session.call("read_result", json!({ "run": run, "path": "/plan" })).await);
    assert_eq!(plan["bytes"], program.len());

    let calls: String = (0..300)
        .map(|id| format!("  r[{id} + 1] = fetch_url(\"https://example.com/{id}\").body\n"))
        .collect();
    let plan = format!("function run()\n  local r = {{}}\n{calls}  return r\nend");
    let explained = bounded(session.call("explain", json!({ "plan": plan })).await);
    assert!(!explained["shortened"].as_array().unwrap().is_empty(), "{explained}");
    let nodes =
        bounded(session.call("explain", json!({ "plan": plan, "path": "/graph", "offset": 0 })).await);
    assert!(nodes["part"].is_object(), "{nodes}");
    let wrong: String = (0..400).map(|id| format!("  print(missing_{id})\n")).collect();
    let plan = format!("function run()\n{wrong}end");
    let checked = bounded(session.call("check", json!({ "plan": plan })).await);
    let found = &checked["findings"];
    let rest = session
        .call("check", json!({ "plan": plan, "path": "/findings", "offset": found["read_on"]["offset"] }))
        .await;
    assert!(bounded(rest)["part"].as_array().is_some_and(|rest| !rest.is_empty()), "{checked}");
    bounded(session.call("search_tools", json!({ "limit": 100, "library": true })).await);

    for id in 0..60 {
        session.done("run_lua", json!({ "program": format!("-- {id}\nfunction run() return 1 end") })).await;
    }
    let (mut seen, mut before) = (0, Json::Null);
    loop {
        let mut arguments = json!({ "limit": 500 });
        if !before.is_null() {
            arguments["before"] = before;
        }
        let page = bounded(session.call("list_runs", arguments).await);
        seen += page["runs"].as_array().unwrap().len();
        before = page["next"].clone();
        if before.is_null() {
            break;
        }
    }
    assert_eq!(seen, 61);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_know_text_alone_get_the_data_as_text() {
    for (settings, version) in [(&[][..], "2025-03-26"), (&["server.mcp_data=text"], "2025-06-18")] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = command(folder.path(), settings).spawn().unwrap();
        let (mut input, mut output) =
            (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
        let messages = [
            json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": version,
                "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } }),
            json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
                "name": "run_lua", "arguments": { "program": ROWS } } }),
        ];
        for message in &messages {
            input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        }
        let answer = loop {
            let line = tokio::time::timeout(PATIENCE, output.next_line()).await.unwrap().unwrap().unwrap();
            assert!(line.len() < ANSWER_BYTES_MAX + ENVELOPE_BYTES, "{} bytes", line.len());
            let answer: Json = serde_json::from_str(&line).unwrap();
            if answer["id"] == 2 {
                break answer;
            }
        };
        assert!(answer["result"].get("structuredContent").is_none(), "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        let data: Json = serde_json::from_str(text).unwrap();
        assert_eq!(data["result"]["rows"]["items"], 5_000);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_person_is_listed_in_short_with_the_way_to_all_of_it() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), crate::approvals::POLICY).unwrap();
    let file = format!("policy.file={}", folder.path().join("policy.toml").display());
    let mut settings = vec![file.as_str()];
    settings.extend(MAIL);
    let session = Session::start(folder.path(), &settings).await;
    let program = "function run() send_email{to = \"a@company.com\", subject = \"FINAL\", body = (\"all of it \"):rep(30000)} end";
    let paused = call(&session.client, "run_lua", json!({ "program": program })).await;
    assert!(serde_json::to_string(&paused).unwrap().len() < ANSWER_BYTES_MAX + ENVELOPE_BYTES);
    let listed = bounded(session.call("list_approvals", json!({})).await);
    let asked = &listed["approvals"][0];
    assert_eq!((&asked["shortened"], &asked["arguments"]["subject"]), (&json!(["body"]), &json!("FINAL")));
    let call_of = bounded(session.call("read_result", asked["whole"].clone()).await);
    let inner = call_of["shortened"].as_array().unwrap().last().unwrap().as_str().unwrap().to_owned();
    assert!(inner.ends_with("/arguments/body"), "{inner}");
    let handle = json!({ "run": asked["run_id"], "path": inner, "offset": 0 });
    let parts = read_on(&session.client, &json!(""), &handle).await;
    let body: String = parts.iter().map(|part| part.as_str().unwrap()).collect();
    assert_eq!(body, "all of it ".repeat(30_000));
}

const MAIL: [&str; 3] = [
    "tools.send_email.smtp=smtp://127.0.0.1:1",
    "tools.send_email.from=luaplan@example.com",
    "tools.send_email.allow_recipients=[\"*@company.com\"]",
];
