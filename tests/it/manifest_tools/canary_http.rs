//! A secret that a server repeats appears in no answer of the service, no event stream and no MCP answer.

use rmcp::ServiceExt as _;
use rmcp::model::CallToolRequestParams;
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::{Value as Json, json};

use super::canary::{CANARY, assert_clean};
use super::manifest;
use super::requests::Site;
use crate::cli::Folder;
use crate::http_support::{Answer, PATIENCE};
use crate::mcp::serve::Serving;

const PLAN: &str = "function run(context)
  local all = parallel{function() return by_header{} end, function() return dotnet{} end, function() return gone{} end}
  local out = {}
  for i = 1, 3 do
    local one = all[i]
    if one.error then
      out[i] = one.error .. json.encode(one.body)
    else
      out[i] = json.encode(one)
    end
    print(out[i])
  end
  local again = by_header{}
  if again.error then error(again.error) end
  return {out = out, all = all[1], log = all[2].log}
end
";

fn shop(site: &Site) -> Folder {
    let tool = |name: &str, path: &str| {
        let rest = format!(
            "[settings]\nurl = \"http://{}/{path}\"\nauth = {{ header = {{ name = \"X-Key\", secret = \"key\" }} }}",
            site.address
        );
        manifest(name, "http", "read", "{}", &rest)
    };
    let mut configuration = "[secrets]\nkey = { env = \"KEY\" }\n[log]\nfilter = \"trace\"\n".to_owned();
    let folder = Folder::new();
    for (name, path) in [("by_header", "echo"), ("dotnet", "dotnet"), ("gone", "missing")] {
        folder.write(&format!("luaplan-tools/{name}.toml"), tool(name, path));
        configuration.push_str(&format!("[tools.{name}]\nallow_hosts = {}\n", site.hosts()));
    }
    folder.write("luaplan.toml", configuration);
    folder
}

/// What an operation is asked with, and whether it must succeed.
fn body(operation: &str) -> (Json, bool) {
    match operation {
        "start_run" | "explain_plan" => (json!({ "plan": PLAN }), true),
        "start_task" => (json!({ "task": "Say hello." }), false),
        "decide_approval" => (json!({ "decision": "once" }), false),
        "replay_run" => (json!({}), false),
        _ => (json!({}), false),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_holds_a_secret() {
    let site = Site::start().await;
    let folder = shop(&site);
    let mut command: tokio::process::Command =
        folder.command(&["serve", "--set", "server.listen=127.0.0.1:0"]).into();
    command.env("KEY", CANARY);
    let serving = Serving::launch(command).await;
    let client = &serving.client;
    let clean = |what: &str, answer: &Answer| {
        assert_clean(what, answer.text.as_bytes());
        assert_clean(what, format!("{:?}", answer.headers).as_bytes());
    };

    // The events of a run that is under way, of one that ended, and what `wait` gives.
    let streamed = client.request("POST", "/v1/runs").header("accept", "text/event-stream");
    let streamed = streamed.body(json!({ "plan": PLAN }).to_string()).send().await.unwrap();
    let streamed = tokio::time::timeout(PATIENCE, Answer::of(streamed)).await.unwrap();
    assert!(streamed.text.contains("event: tool_call_finished"), "{}", streamed.text);
    clean("the stream of POST /v1/runs", &streamed);
    let outcome = client.run(PLAN).await;
    assert_eq!(outcome["status"], "succeeded", "{outcome}");
    assert!(outcome.to_string().contains("[redacted]"), "{outcome}");
    assert_clean("the outcome", outcome.to_string().as_bytes());
    let run_id = outcome["run_id"].as_str().unwrap().to_owned();

    let document = client.get("/openapi.json").await.json();
    let mut asked = 0;
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let (id, place) = (
                operation["operationId"].as_str().unwrap(),
                path.replace("{id}", &run_id).replace("{call}", "1.1").replace("{name}", "query_db"),
            );
            let (body, succeeds) = body(id);
            let query = if id == "start_run" { "?wait=25s" } else { "" };
            let mut request = client.request(&method.to_uppercase(), &format!("{place}{query}"));
            if method == "post" {
                request = request.body(body.to_string());
            }
            let answer = Answer::of(request.send().await.unwrap());
            let answer = tokio::time::timeout(PATIENCE, answer).await.unwrap();
            assert!(answer.status < 400 || method == "post" && !succeeds, "{id}: {}", answer.text);
            clean(id, &answer);
            asked += 1;
        }
    }
    assert!(asked >= 18, "{asked} operations");
    for odd in ["/v1/runs/nonsense", "/v1/audit?limit=5&tool=by_header", "/nowhere", "/v1/audit?since=x"] {
        clean(odd, &client.get(odd).await);
    }
    let audit = client.get("/v1/audit?limit=1000").await;
    assert!(audit.text.contains("tool_call_finished"));
    clean("the whole audit", &audit);

    // The same over MCP.
    let transport = StreamableHttpClientTransport::from_uri(format!("{}/mcp", client.base));
    let peer = ().serve(transport).await.unwrap();
    for (tool, arguments) in [
        ("run_lua", json!({ "program": PLAN })),
        ("run_status", json!({ "run_id": run_id })),
        ("run", json!({ "run_id": run_id })),
        ("explain", json!({ "plan": PLAN })),
        ("list_runs", json!({})),
        ("list_approvals", json!({})),
        ("search_tools", json!({ "limit": 100 })),
        ("audit", json!({ "limit": 1000 })),
    ] {
        let request =
            CallToolRequestParams::new(tool).with_arguments(arguments.as_object().cloned().unwrap());
        let answer = peer.call_tool(request).await.unwrap();
        assert_eq!(answer.is_error, Some(false), "{tool}: {answer:?}");
        assert_clean(tool, serde_json::to_string(&answer).unwrap().as_bytes());
    }
    peer.cancel().await.unwrap();
    let sent = site.asked.lock().unwrap().iter().map(ToString::to_string).collect::<String>();
    assert!(sent.contains("canary-7f3a"), "the servers did get it: {sent}");
    let log = serving.log.clone();
    serving.stop().await;
    let log = log.lock().unwrap().clone();
    assert!(log.contains("TRACE"), "the log is on");
    assert_clean("the log", log.as_bytes());
}
