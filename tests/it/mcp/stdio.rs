//! What the server offers, over the pipes of the real binary.

use jsonschema::validator_for;
use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};

use super::{SUM, Session, command};
use crate::http_support::PATIENCE;

const TOOLS: [&str; 15] = [
    "run_lua",
    "run",
    "check",
    "explain",
    "run_status",
    "read_result",
    "cancel_run",
    "resume_run",
    "list_runs",
    "list_approvals",
    "deny_approval",
    "answer_question",
    "search_tools",
    "describe_databases",
    "audit",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_have_schemas_and_honest_hints() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(folder.path(), &[]).await;
    let info = session.client.peer_info().unwrap();
    assert_eq!(info.server_info.as_ref().unwrap().name, "luaplan");
    let tools = session.client.list_all_tools().await.unwrap();
    assert_eq!(tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), TOOLS);
    for tool in &tools {
        let input = Json::Object((*tool.input_schema).clone());
        assert_eq!(input["type"], "object", "{}", tool.name);
        assert_eq!(input["additionalProperties"], false, "{}", tool.name);
        validator_for(&input).unwrap();
        for (name, property) in input["properties"].as_object().unwrap() {
            assert!(property["description"].is_string(), "{}.{name}", tool.name);
            assert!(!property["type"].is_array(), "{}.{name}", tool.name);
        }
        validator_for(&Json::Object((**tool.output_schema.as_ref().unwrap()).clone())).unwrap();
    }
    let hints = |name: &str| {
        let tool = tools.iter().find(|tool| tool.name == name).unwrap();
        let hints = tool.annotations.clone().unwrap();
        [hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint]
            .map(Option::unwrap)
    };
    // Nothing that plans can reach here does more than read.
    assert_eq!(hints("run_lua"), [true, false, false, true]);
    assert_eq!(hints("check"), [true, false, true, false]);
    assert_eq!(hints("cancel_run"), [false, true, true, false]);
    assert_eq!(hints("audit"), [true, false, true, false]);
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_are_destructive_as_soon_as_one_tool_sends() {
    let folder = tempfile::tempdir().unwrap();
    let mail = [
        "tools.send_email.smtp=smtp://127.0.0.1:1",
        "tools.send_email.from=luaplan@example.com",
        "tools.send_email.allow_recipients=[\"*@example.com\"]",
    ];
    let session = Session::start(folder.path(), &mail).await;
    let tools = session.client.list_all_tools().await.unwrap();
    let hints = tools[0].annotations.clone().unwrap();
    assert_eq!((hints.read_only_hint, hints.destructive_hint), (Some(false), Some(true)));
    let description = tools[0].description.clone().unwrap();
    assert!(description.contains("function send_email(params) end"), "{description}");
    assert!(!description.contains("function call_llm"), "a tool that cannot work is not declared");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_brings_the_tools_that_ask_it() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(folder.path(), &[]).await;
    for tool in ["task", "plan"] {
        let (code, _) = session.refused(tool, json!({ "task": "Count to ten." })).await;
        assert_eq!(code, "llm_not_configured", "{tool}");
    }
    let settings = ["llm.provider=ollama", "llm.model=none", "llm.base_url=http://127.0.0.1:1/"];
    let session = Session::start(folder.path(), &settings).await;
    let tools = session.client.list_all_tools().await.unwrap();
    assert!(tools.iter().any(|tool| tool.name == "task") && tools.iter().any(|tool| tool.name == "plan"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_runs_and_is_on_record() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(folder.path(), &[]).await;
    let outcome = session.done("run_lua", json!({ "program": SUM, "context": { "a": 2, "b": 3 } })).await;
    assert_eq!(outcome["status"], "succeeded");
    assert_eq!(outcome["result"], json!({ "sum": 5 }));
    let run_id = outcome["run_id"].clone();

    let status = session.done("run_status", json!({ "run_id": run_id })).await;
    assert_eq!((&status["status"], &status["result"]), (&json!("succeeded"), &json!({ "sum": 5 })));
    let runs = session.done("list_runs", json!({})).await;
    assert_eq!(runs["runs"][0]["run_id"], run_id);
    let audit = session.done("audit", json!({ "run": run_id, "event": "run_started" })).await;
    assert_eq!(audit["records"][0]["isolation"], "process", "{audit}");

    let again = session.done("run", json!({ "run_id": run_id, "context": { "a": 1, "b": 1 } })).await;
    assert_eq!(again["result"], json!({ "sum": 2 }));
    assert_ne!(again["run_id"], run_id);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_reaches_real_tools() {
    let folder = tempfile::tempdir().unwrap();
    let gate = crate::http_support::Gate::new().await;
    let hosts = format!("tools.fetch_url.allow_hosts=[\"{}\"]", gate.host);
    let session = Session::start(folder.path(), &[&hosts]).await;
    let outcome = session.done("run_lua", json!({ "program": gate.plan("/now") })).await;
    assert_eq!(outcome["result"], "body");
    assert_eq!(outcome["usage"]["tool_calls"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn checks_and_explanations_run_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(folder.path(), &[]).await;
    let plan = "function run(context) local b = fetch_url(\"https://example.com/\") return b.error end";
    let checked = session.done("check", json!({ "plan": plan })).await;
    assert_eq!(checked["ok"], true, "{checked}");
    let bad = session.done("check", json!({ "plan": "function run(c) return os.time() end" })).await;
    assert_eq!(bad["ok"], false);
    assert_eq!(bad["findings"][0]["code"], "plan_forbidden_global");
    let explained = session.done("explain", json!({ "plan": plan })).await;
    assert!(explained["preview"].to_string().contains("example.com"), "{explained}");
    assert!(explained["graph"].is_object(), "{explained}");
    assert_eq!(session.done("list_runs", json!({})).await["runs"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_are_found_by_what_they_do() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(folder.path(), &[]).await;
    let found =
        session.done("search_tools", json!({ "query": "fetch pages, transform data", "limit": 1 })).await;
    let name = found["tools"][0]["name"].as_str().unwrap();
    assert!(["fetch_url", "transform_data"].contains(&name), "{found}");
    let stub = format!("function {name}(params) end");
    assert!(found["tools"][0]["stub"].as_str().unwrap().contains(&stub), "{found}");
    assert_eq!(found["left_out"], 1, "{found}");
    let all = session.done("search_tools", json!({ "limit": 100, "library": true })).await;
    // Tools that are not set up are not offered.
    let names: Vec<&str> =
        all["tools"].as_array().unwrap().iter().filter_map(|tool| tool["name"].as_str()).collect();
    assert_eq!(names, ["fetch_url", "transform_data", "sleep", "wait_until", "ask_person"]);
    assert!(all["library"].as_str().unwrap().contains("json.decode"), "{all}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_goes_wrong_has_its_stable_code() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(folder.path(), &[]).await;
    let cases = [
        ("run_lua", json!({}), "bad_request"),
        ("run_lua", json!({ "program": SUM, "contxt": {} }), "bad_request"),
        ("run_lua", json!({ "program": "function run(" }), "check_refused"),
        ("run_lua", json!({ "program": "function run() error(\"no\") end" }), "plan_error"),
        (
            "run_lua",
            json!({ "program": "function run() while true do end end", "limits": { "instructions": "100000" } }),
            "limit_instructions",
        ),
        (
            "run_lua",
            json!({ "program": "function run() while true do end end", "limits": { "instructions": 100000 } }),
            "limit_instructions",
        ),
        ("explain", json!({ "plan": SUM, "limits": { "tool_calls": -1 } }), "bad_request"),
        ("run_lua", json!({ "program": SUM, "limits": { "memory": "100GiB" } }), "bad_request"),
        ("resume_run", json!({ "run_id": "nonsense" }), "bad_request"),
        ("deny_approval", json!({ "approval_id": "nonsense", "reason": "x" }), "not_found"),
        ("answer_question", json!({ "run_id": "nonsense", "answer": "x" }), "bad_request"),
        ("run_lua", json!({ "program": SUM, "limits": { "memry": "1MiB" } }), "bad_request"),
        ("run_lua", json!({ "program": SUM, "wait": "soon" }), "bad_request"),
        ("run", json!({}), "bad_request"),
        ("run", json!({ "plan": SUM, "file": "x.lua" }), "bad_request"),
        ("run_status", json!({ "run_id": "nonsense" }), "bad_request"),
        ("audit", json!({ "outcome": "maybe" }), "bad_request"),
        ("audit", json!({ "event": "nope" }), "bad_request"),
        ("audit", json!({ "tool": "nosuch" }), "bad_request"),
        ("list_runs", json!({ "limit": 0 }), "bad_request"),
    ];
    for (tool, arguments, code) in cases {
        let (seen, data) = session.refused(tool, arguments.clone()).await;
        assert_eq!(seen, code, "{tool} {arguments}: {data}");
    }
    let run = session.done("run_lua", json!({ "program": SUM, "context": { "a": 1, "b": 1 } })).await;
    let known = run["run_id"].as_str().unwrap();
    let gone = format!("{}{}", &known[..known.len() - 4], "0000");
    for tool in ["run_status", "cancel_run"] {
        assert_eq!(session.refused(tool, json!({ "run_id": gone })).await.0, "not_found", "{tool}");
    }
    assert_eq!(session.refused("cancel_run", json!({ "run_id": known })).await.0, "run_not_active");
    let (_, refused) =
        session.refused("run_lua", json!({ "program": "function run() return os.time() end" })).await;
    assert_eq!(refused["error"]["findings"][0]["code"], "plan_forbidden_global");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_tool_is_an_error_of_the_protocol() {
    let folder = tempfile::tempdir().unwrap();
    let session = Session::start(folder.path(), &[]).await;
    let request = rmcp::model::CallToolRequestParams::new("no_such_tool");
    let error = session.client.call_tool(request).await.unwrap_err().to_string();
    assert!(error.contains("no_such_tool") && error.contains("-32602"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn saved_plans_are_read_from_the_working_folder_alone() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("secret.lua"), SUM).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("plans")).unwrap();
    std::fs::write(folder.path().join("plans/sum.lua"), SUM).unwrap();
    std::fs::write(folder.path().join("notes.txt"), SUM).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(outside.path().join("secret.lua"), folder.path().join("link.lua")).unwrap();
    let session = Session::start(folder.path(), &[]).await;
    let context = json!({ "a": 20, "b": 1 });
    let outcome = session.done("run", json!({ "file": "plans/sum.lua", "context": context })).await;
    assert_eq!(outcome["result"]["sum"], 21);
    let absolute = outside.path().join("secret.lua");
    let mut refused =
        vec!["../secret.lua", "plans/../../secret.lua", absolute.to_str().unwrap(), "notes.txt", ""];
    #[cfg(unix)]
    refused.push("link.lua");
    for file in refused {
        let (code, data) = session.refused("run", json!({ "file": file, "context": context })).await;
        assert_eq!(code, "bad_request", "{file}: {data}");
    }
    let (code, _) = session.refused("run", json!({ "file": "plans/absent.lua" })).await;
    assert_eq!(code, "file_unreadable");
    // This pipe has no writer: a reader would wait for ever.
    #[cfg(unix)]
    {
        let made = std::process::Command::new("mkfifo").arg(folder.path().join("pipe.lua")).status().unwrap();
        assert!(made.success());
        std::fs::create_dir(folder.path().join("folder.lua")).unwrap();
        for file in ["pipe.lua", "folder.lua"] {
            let (code, data) = session.refused("run", json!({ "file": file })).await;
            assert_eq!(code, "bad_request", "{file}: {data}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn standard_output_carries_the_protocol_alone() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), &["log.filter=trace"]).spawn().unwrap();
    let (mut input, mut output) =
        (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let run = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
        "name": "run_lua", "arguments": { "program": "function run() print(\"loud\") return 1 end" } } });
    for message in [&begin, &begun, &run] {
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
    }
    let reading = async {
        let mut answers = Vec::new();
        while answers.iter().all(|answer: &Json| answer["id"] != 2) {
            let line = output.next_line().await.unwrap().unwrap();
            answers.push(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")));
        }
        answers
    };
    let answers = tokio::time::timeout(PATIENCE, reading).await.unwrap();
    assert_eq!(answers[0]["result"]["protocolVersion"], "2025-06-18");
    assert!(answers.iter().all(|answer| answer["jsonrpc"] == "2.0"), "{answers:?}");
    let last = answers.last().unwrap();
    assert_eq!(last["result"]["structuredContent"]["printed"], "loud\n");
    drop(input);
    let status = tokio::time::timeout(PATIENCE, child.wait()).await.unwrap().unwrap();
    assert!(status.success());
    while let Some(line) = output.next_line().await.unwrap() {
        let _: Json = serde_json::from_str(&line).unwrap();
    }
    let mut log = String::new();
    child.stderr.take().unwrap().read_to_string(&mut log).await.unwrap();
    assert!(log.contains("the run is under way"), "{log}");
}

/// Each line that is no message gets its answer, and the next message is read as if it had not been there.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_message_is_answered_with_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), &["server.body_limit=64KiB"]).spawn().unwrap();
    let (mut input, mut output) =
        (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    let mut next = async || {
        let line = tokio::time::timeout(PATIENCE, output.next_line()).await.unwrap().unwrap().unwrap();
        serde_json::from_str::<Json>(&line).unwrap()
    };
    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    let ping = json!({ "jsonrpc": "2.0", "id": 2, "method": "ping" });
    input.write_all(format!("{begin}\n{begun}\n").as_bytes()).await.unwrap();
    assert_eq!(next().await["id"], 1);
    let long = format!("{{\"jsonrpc\": \"2.0\", \"id\": 9, \"method\": \"{}\"}}", "x".repeat(200_000));
    let deep = "[".repeat(5000);
    let cases: [(&[u8], i64); 7] = [
        (b"this is not JSON", -32700),
        (b"{\"jsonrpc\": \"2.0\", \"id\": 3, ", -32700),
        (b"\"\xff\xfe\"", -32700),
        (deep.as_bytes(), -32700),
        (long.as_bytes(), -32600),
        (b"{\"no\": \"message\"}", -32600),
        (b"  \r", 0),
    ];
    for (line, code) in cases {
        input.write_all(&[line, b"\n", ping.to_string().as_bytes(), b"\n"].concat()).await.unwrap();
        let mut answers = vec![next().await];
        if code != 0 {
            answers.push(next().await);
        }
        let pong = answers.iter().find(|answer| answer["id"] == 2).unwrap_or_else(|| panic!("{answers:?}"));
        assert!(pong["result"].is_object(), "{answers:?}");
        if code != 0 {
            let error = answers.iter().find(|answer| answer.get("error").is_some()).unwrap();
            assert_eq!((&error["error"]["code"], &error["id"]), (&json!(code), &Json::Null), "{error}");
        }
    }
    // Also where it is the last thing that is said.
    input.write_all(b"nonsense\n").await.unwrap();
    drop(input);
    assert_eq!(next().await["error"]["code"], -32700);
    let status = tokio::time::timeout(PATIENCE, child.wait()).await.unwrap().unwrap();
    assert!(status.success());
}

/// Parameters of a form the protocol does not have are not a method that is not there.
#[tokio::test(flavor = "multi_thread")]
async fn parameters_that_cannot_be_read_are_called_so() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = command(folder.path(), &[]).spawn().unwrap();
    let (mut input, mut output) =
        (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    let begin = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } } });
    let begun = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    input.write_all(format!("{begin}\n{begun}\n").as_bytes()).await.unwrap();
    output.next_line().await.unwrap();
    for (method, params, code, words) in [
        ("tools/call", json!({ "name": "check", "arguments": [] }), -32602, "`arguments` is no object"),
        ("tools/call", json!({ "name": "check", "arguments": "x" }), -32602, "`arguments` is no object"),
        ("tools/call", json!({ "arguments": {} }), -32602, "`name` is missing"),
        ("tools/call", json!({ "name": 1 }), -32602, "`name` is missing"),
        ("tools/call", Json::Null, -32602, "`params` are no object"),
        ("tools/sell", json!({}), -32601, "there is no method `tools/sell` here"),
    ] {
        let message = json!({ "jsonrpc": "2.0", "id": 2, "method": method, "params": params });
        input.write_all(format!("{message}\n").as_bytes()).await.unwrap();
        let line = tokio::time::timeout(PATIENCE, output.next_line()).await.unwrap().unwrap().unwrap();
        let answer: Json = serde_json::from_str(&line).unwrap();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(code)), "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_is_none_is_refused_before_anything_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let output = command(&folder.path().join("absent"), &[]).output().await.unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(output.stdout.is_empty());
    assert!(String::from_utf8_lossy(&output.stderr).contains("error[usage]"));
}
