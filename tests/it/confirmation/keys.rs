//! Who may decide about a plan, and change one.

use serde_json::{Value as Json, json};

use super::{asked, decide, id_of, path_of, plan, reply, service, waits};
use crate::http_support::{Client, Service};

const KEYS: &str = "acme aaaaaaaaaaaaaaaaaaaaaaaa\nbeta bbbbbbbbbbbbbbbbbbbbbbbb\n\
    colleague cccccccccccccccccccccccc tenant=acme\n";

async fn shared(policy: &str, replies: Vec<luaplan::llm::RecordedReply>) -> (Service, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        format!("{:?}", folder.path().join(name).display().to_string())
    };
    let (keys, policy) = (path("keys", KEYS), path("policy.toml", policy));
    let settings = [("server.api_keys_file", keys.as_str()), ("policy.file", policy.as_str())];
    (service(&settings, replies).await, folder)
}

fn with_key(service: &Service, letter: &str) -> Client {
    Client { key: Some(letter.repeat(24)), ..service.client.clone() }
}

#[tokio::test]
async fn another_tenant_neither_sees_nor_decides_nor_follows() {
    let replies = vec![reply(Some("written for this task"), &plan(2)), reply(None, &plan(1))];
    let (service, _folder) = shared("version = 1\n", replies).await;
    let (acme, beta) = (with_key(&service, "a"), with_key(&service, "b"));
    let run_id = id_of(&waits(&acme, &json!({})).await);
    let path = path_of(&asked(&acme, &run_id).await);
    assert_eq!(beta.get("/v1/approvals").await.json()["approvals"], json!([]));
    beta.get(&format!("/v1/approvals?run={run_id}")).await.problem(404, "not_found");
    for body in [json!({ "decision": "once" }), json!({ "decision": "deny", "reason": "x" })] {
        beta.post(&path, &body).await.problem(404, "not_found");
    }
    let follow = json!({ "task": "another number", "follow": run_id });
    beta.post("/v1/tasks", &follow).await.problem(404, "not_found");
    decide(&acme, &run_id, &json!({ "decision": "once" })).await;
    acme.until_ended(&run_id).await;
    beta.post("/v1/tasks", &follow).await.problem(404, "not_found");
    let outcome: Json = acme.post("/v1/tasks?wait=25s", &follow).await.json();
    assert_eq!(outcome["result"], json!({ "answer": 2 }), "{outcome}");
}

#[tokio::test]
async fn who_started_the_task_does_not_confirm_it_where_the_policy_says_so() {
    let policy = "version = 1\napprovers_other_than_starter = true\napprovers = [\"acme\", \"colleague\"]\n";
    let (service, _folder) = shared(policy, vec![reply(None, &plan(1))]).await;
    let (acme, colleague) = (with_key(&service, "a"), with_key(&service, "c"));
    let run_id = id_of(&waits(&acme, &json!({})).await);
    let path = path_of(&asked(&acme, &run_id).await);
    acme.post(&path, &json!({ "decision": "once" })).await.problem(403, "approver_is_starter");
    decide(&colleague, &run_id, &json!({ "decision": "once" })).await;
    let ended = acme.until_ended(&run_id).await;
    assert_eq!((&ended["status"], &ended["plan_decision"]["by"]), (&json!("succeeded"), &json!("colleague")));
}
