//! Tenants are apart over `/mcp` too.

use serde_json::json;

use super::http::connect;
use super::{call, refused};
use crate::http_tenants::{key_of, settings, world};
use crate::mcp::serve::Serving;

const MISSING: &str = "0192b1c4-0000-7000-8000-000000000000";

#[tokio::test(flavor = "multi_thread")]
async fn no_tool_shows_or_changes_what_another_tenant_has() {
    let folder = tempfile::tempdir().unwrap();
    let settings: Vec<String> =
        settings(folder.path()).into_iter().map(|(name, value)| format!("{name}={value}")).collect();
    let serving = Serving::start(&settings.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let world = world(&serving.client).await;
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
                "audit" | "list_runs" => {
                    let name = if tool.name == "audit" { "audit" } else { "list_runs" };
                    let seen = format!("{:?}", call(&acme, name, json!({})).await);
                    assert!(!seen.contains(run_id), "{name} shows {run_id}");
                    continue;
                }
                // About no run, or one that the call itself begins.
                "run_lua" | "task" | "plan" | "check" | "explain" | "search_tools" => {
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
