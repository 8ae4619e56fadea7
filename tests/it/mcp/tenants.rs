//! Tenants are apart over `/mcp` too.

use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use rmcp::service::PeerRequestOptions;
use serde_json::json;

use super::http::connect;
use super::{call, refused};
use crate::approvals::{ABSENT_MAIL_SERVER, POLICY};
use crate::http_support::{Client, Gate, until};
use crate::http_tenants::{key_of, settings, settings_beside, world};
use crate::mcp::serve::Serving;

const MISSING: &str = "0192b1c4-0000-7000-8000-000000000000";

#[tokio::test(flavor = "multi_thread")]
async fn no_tool_shows_or_changes_what_another_tenant_has() {
    let (folder, gate) = (tempfile::tempdir().unwrap(), Gate::new().await);
    let settings: Vec<String> = settings_beside(folder.path(), &gate)
        .into_iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let serving = Serving::start(&settings.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let world = world(&serving.client, Some(&gate)).await;
    let acme = connect(&serving, Some(&key_of("acme"))).await;
    let overseer = connect(&serving, Some(&key_of("overseer"))).await;
    let missing_approval = world.approval.replace(world.approval.split(':').next().unwrap(), MISSING);
    for tool in acme.list_all_tools().await.unwrap() {
        for (_, run_id) in &world.runs {
            let (name, own, none) = match tool.name.as_ref() {
                "run" => ("run", json!({ "run_id": run_id }), json!({ "run_id": MISSING })),
                "run_status" => ("run_status", json!({ "run_id": run_id }), json!({ "run_id": MISSING })),
                "read_result" => (
                    "read_result",
                    json!({ "run": run_id, "path": "" }),
                    json!({ "run": MISSING, "path": "" }),
                ),
                "cancel_run" => ("cancel_run", json!({ "run_id": run_id }), json!({ "run_id": MISSING })),
                "resume_run" => ("resume_run", json!({ "run_id": run_id }), json!({ "run_id": MISSING })),
                "list_approvals" => {
                    ("list_approvals", json!({ "run_id": run_id }), json!({ "run_id": MISSING }))
                }
                "deny_approval" => (
                    "deny_approval",
                    json!({ "approval_id": world.approval, "reason": "no" }),
                    json!({ "approval_id": missing_approval, "reason": "no" }),
                ),
                "answer_question" => (
                    "answer_question",
                    json!({ "run_id": run_id, "answer": "no" }),
                    json!({ "run_id": MISSING, "answer": "no" }),
                ),
                "audit" | "list_runs" => {
                    let name = if tool.name == "audit" { "audit" } else { "list_runs" };
                    let seen = format!("{:?}", call(&acme, name, json!({})).await);
                    assert!(!seen.contains(run_id), "{name} shows {run_id}");
                    continue;
                }
                // About no run, or one that the call itself starts.
                "run_lua" | "task" | "plan" | "check" | "explain" | "search_tools" | "describe_databases" => {
                    continue;
                }
                other => panic!("say here what another tenant may learn from the tool {other}"),
            };
            let (code, seen) = refused(call(&acme, name, own).await);
            let (_, of_none) = refused(call(&acme, name, none).await);
            assert_eq!(code, "not_found", "{name}");
            let seen = seen.to_string().replace(run_id, MISSING);
            let approval_run = world.approval.split(':').next().unwrap();
            assert_eq!(seen.replace(approval_run, MISSING), of_none.to_string(), "{name}");
        }
    }
    let (_, paused) = &world.runs[1];
    let report = call(&overseer, "run_status", json!({ "run_id": paused })).await;
    assert!(format!("{report:?}").contains("paused"), "{report:?}");
    acme.cancel().await.unwrap();
    overseer.cancel().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_only_decide_ends_no_run_by_going_away() {
    let (gate, folder) = (Gate::new().await, tempfile::tempdir().unwrap());
    let keys = format!(
        "starter {} tenant=acme\ndecider {} tenant=acme scopes=approvals:decide\n",
        key_of("starter"),
        key_of("decider")
    );
    let file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        folder.path().join(name).display().to_string()
    };
    let mut settings = vec![
        format!("server.api_keys_file={:?}", file("keys", &keys)),
        format!("policy.file={:?}", file("policy.toml", POLICY)),
        format!("tools.fetch_url.allow_hosts=[\"{}\"]", gate.host),
    ];
    settings.extend(ABSENT_MAIL_SERVER.map(|(name, value)| format!("{name}={value}")));
    let serving = Serving::start(&settings.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let starter = Client { key: Some(key_of("starter")), ..serving.client.clone() };
    let plan = format!(
        "function run()\n  local sent = send_email('a@company.com', 'hello', 'x')\n  \
         local body = fetch_url('http://{}/hold')\n  if body.error then return body.code end\n  \
         return sent.code\nend",
        gate.host
    );
    let paused = starter.post("/v1/runs?wait=20s", &json!({ "plan": plan })).await.json();
    let path = format!("/v1/runs/{}", paused["run_id"].as_str().unwrap_or_else(|| panic!("{paused}")));
    let decider = connect(&serving, Some(&key_of("decider"))).await;
    let waits = call(&decider, "list_approvals", json!({})).await.structured_content.unwrap();
    let arguments = json!({ "approval_id": waits["approvals"][0]["approval_id"], "reason": "no" });
    let params =
        CallToolRequestParams::new("deny_approval").with_arguments(arguments.as_object().cloned().unwrap());
    let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
    let denied = decider.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
    gate.asked(1).await;
    denied.cancel(None).await.unwrap();
    decider.cancel().await.unwrap();
    assert_eq!(starter.get(&path).await.json()["status"], "running");
    gate.open();
    let ended =
        until(async || Some(starter.get(&path).await.json()).filter(|run| run["status"] != "running")).await;
    assert_eq!(ended["status"], "succeeded", "{ended}");
}

/// What a key of each scope alone may do with runs of its own tenant: everything else is `forbidden`.
const SCOPED: [(&str, &str, &[&str]); 5] = [
    ("starts", "runs:start", &["run_lua", "run", "check", "explain", "search_tools", "describe_databases"]),
    (
        "reads",
        "runs:read",
        &["run_status", "read_result", "list_runs", "check", "explain", "search_tools", "describe_databases"],
    ),
    (
        "steers",
        "runs:control",
        &["cancel_run", "resume_run", "check", "explain", "search_tools", "describe_databases"],
    ),
    (
        "decides",
        "approvals:decide",
        &[
            "list_approvals",
            "deny_approval",
            "answer_question",
            "check",
            "explain",
            "search_tools",
            "describe_databases",
        ],
    ),
    ("audits", "audit:read", &["audit", "check", "explain", "search_tools", "describe_databases"]),
];

#[tokio::test(flavor = "multi_thread")]
async fn each_scope_opens_its_tools_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let settings: Vec<String> =
        settings(folder.path()).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    let serving = Serving::start(&settings.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let plan = "function run() return 1 end";
    let owner = Client { key: Some(key_of("acme")), ..serving.client.clone() };
    let run = owner.run(plan).await["run_id"].clone();
    for (name, scope, may) in SCOPED {
        let session = connect(&serving, Some(&key_of(name))).await;
        for tool in session.list_all_tools().await.unwrap() {
            let (tool, arguments) = match tool.name.as_ref() {
                "run_lua" => ("run_lua", json!({ "program": plan })),
                "run" => ("run", json!({ "plan": plan })),
                "check" => ("check", json!({ "plan": plan })),
                "explain" => ("explain", json!({ "plan": plan })),
                "run_status" => ("run_status", json!({ "run_id": run })),
                "read_result" => ("read_result", json!({ "run": run })),
                "cancel_run" => ("cancel_run", json!({ "run_id": run })),
                "resume_run" => ("resume_run", json!({ "run_id": run })),
                "list_runs" => ("list_runs", json!({})),
                "list_approvals" => ("list_approvals", json!({})),
                "deny_approval" => (
                    "deny_approval",
                    json!({ "approval_id": format!("{}:1:0", run.as_str().unwrap()), "reason": "no" }),
                ),
                "answer_question" => ("answer_question", json!({ "run_id": run, "answer": "no" })),
                "search_tools" => ("search_tools", json!({})),
                "describe_databases" => ("describe_databases", json!({})),
                "audit" => ("audit", json!({})),
                other => panic!("say here which scope opens the tool {other}"),
            };
            let answer = call(&session, tool, arguments).await;
            let code = answer.structured_content.unwrap()["error"]["code"].clone();
            assert_eq!(code != "forbidden", may.contains(&tool), "{scope} {tool}: {code}");
        }
        // Reading part by part needs what the part needs.
        for (path, opens) in [
            ("/result", "runs:read"),
            ("/plan", "runs:read"),
            ("/calls/1", "runs:read"),
            ("/records/1", "audit:read"),
        ] {
            let answer = call(&session, "read_result", json!({ "run": run, "path": path })).await;
            let code = answer.structured_content.unwrap()["error"]["code"].clone();
            assert_eq!(code != "forbidden", scope == opens, "{scope} {path}: {code}");
        }
        session.cancel().await.unwrap();
    }
}
