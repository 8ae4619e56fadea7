//! Approvals over HTTP.

use serde_json::json;

use super::{ABSENT_MAIL_SERVER, MAILER, POLICY};
use crate::http_support::Service;

const KEYS: &str = "ops aaaaaaaaaaaaaaaaaaaaaaaa scopes=runs:start,runs:read,approvals:decide:all\n\
    guest bbbbbbbbbbbbbbbbbbbbbbbb scopes=runs:start,runs:read,approvals:decide,mode:autonomous\n";

/// A service under a policy. Mail cannot be sent by it: calls that are allowed fail, and say so.
async fn service(policy: &str, keys: bool) -> (Service, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), policy).unwrap();
    std::fs::write(folder.path().join("keys"), KEYS).unwrap();
    let path = |name: &str| format!("{:?}", folder.path().join(name).display().to_string());
    let (policy, file) = (path("policy.toml"), path("keys"));
    let mut settings = vec![("policy.file", policy.as_str())];
    if keys {
        settings.push(("server.api_keys_file", file.as_str()));
    }
    settings.extend(ABSENT_MAIL_SERVER);
    (Service::with(&settings, None).await, folder)
}

#[tokio::test]
async fn a_paused_run_shows_what_waits_and_goes_on_when_it_is_decided() {
    let (service, _folder) = service(POLICY, false).await;
    let client = &service.client;
    let answer = client.post("/v1/runs?wait=25s", &json!({ "plan": MAILER })).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let outcome = answer.json();
    assert_eq!(
        (&outcome["status"], &outcome["error"]["code"]),
        (&json!("paused"), &json!("approval_required"))
    );
    let run_id = outcome["run_id"].as_str().unwrap();
    let run = client.get(&format!("/v1/runs/{run_id}")).await.json();
    assert_eq!(run["paused"]["approvals"][0]["tool"], "send_email", "{run}");
    let listed = client.get("/v1/approvals").await.json();
    let waits = &listed["approvals"][0];
    assert_eq!((&waits["run_id"], &waits["call_id"]), (&json!(run_id), &json!("1")));
    assert_eq!(waits["arguments"]["to"], "admin@company.com");
    assert_eq!(waits["origins"]["arguments"]["to"], json!(["context.to"]));
    let other = client.get("/v1/approvals?run=0192b1c4-0000-7000-8000-000000000000").await;
    assert_eq!(other.status, 404);

    let path = format!("/v1/approvals/{}", waits["approval_id"].as_str().unwrap());
    for (body, status) in [
        (json!({ "decision": "maybe" }), 400),
        (json!({ "decision": "once", "reason": "x" }), 400),
        (json!({ "decision": "for", "for": "soon" }), 400),
        (json!({ "decision": "deny" }), 400),
        (json!({ "decision": "edit", "arguments": { "to": "x" } }), 400),
        (
            json!({ "decision": "edit", "arguments": { "to": "boss@company.com", "subject": "s", "body": "b" } }),
            403,
        ),
    ] {
        let answer = client.post(&path, &body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.text);
        assert!(answer.json()["code"].is_string());
    }
    let answer = client.post(&path, &json!({ "decision": "deny", "reason": "not today" })).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let decided = answer.json();
    assert_eq!((&decided["pending"], &decided["run"]), (&json!(0), &json!("resumed")));
    assert_eq!(decided["approval"]["decision"]["by"], "local");
    let ended = client.until_ended(run_id).await;
    assert_eq!(
        (&ended["status"], &ended["result"]["code"]),
        (&json!("succeeded"), &json!("approval_denied"))
    );
    let late = client.post(&path, &json!({ "decision": "once" })).await;
    assert_eq!((late.status, &late.json()["code"]), (409, &json!("approval_stale")));
    assert_eq!(late.json()["decision"]["decision"], "deny");
    assert_eq!(client.get("/v1/approvals").await.json()["approvals"], json!([]));
}

#[tokio::test]
async fn a_long_call_is_shortened_in_lists_whole_at_its_own_address_and_edited_in_part() {
    let (service, _folder) = service(POLICY, false).await;
    let client = &service.client;
    let plan = MAILER.replace("\"x\")", "string.rep(\"a customer's line\\n\", 20000))");
    let paused = client.post("/v1/runs?wait=25s", &json!({ "plan": plan })).await;
    let run_id = paused.json()["run_id"].as_str().unwrap().to_owned();
    for path in [format!("/v1/runs/{run_id}"), "/v1/approvals".to_owned()] {
        let answer = client.get(&path).await;
        assert!(answer.text.len() < 16 * 1024, "{path}: {} bytes", answer.text.len());
        let report = answer.json();
        let waits = report.pointer("/paused/approvals/0").unwrap_or(&report["approvals"][0]);
        assert_eq!(waits["arguments"]["body"]["bytes"], 360_000, "{path}");
        assert_eq!(waits["shortened"], json!(["body"]), "{path}");
        let whole = client.get(waits["whole"].as_str().unwrap()).await.json();
        let body = whole["approvals"][0]["arguments"]["body"].as_str().unwrap();
        assert_eq!(body.len(), 360_000);
        let path = format!("/v1/approvals/{}", waits["approval_id"].as_str().unwrap());
        // What was taken from a list is not sent back as a text that was cut.
        let mut cut = waits["arguments"].clone();
        cut["subject"] = "other".into();
        let refused = client.post(&path, &json!({ "decision": "edit", "arguments": cut })).await;
        assert_eq!(refused.status, 400, "{}", refused.text);
        for body in [
            json!({ "decision": "edit" }),
            json!({ "decision": "edit", "set": { "subject": "s" }, "merge": {} }),
            json!({ "decision": "edit", "merge": [1] }),
            json!({ "decision": "once", "set": { "subject": "s" } }),
        ] {
            assert_eq!(client.post(&path, &body).await.status, 400, "{body}");
        }
    }
    assert_eq!(client.get(&format!("/v1/runs/{run_id}/calls/7")).await.status, 404);
    let waits = client.get("/v1/approvals").await.json();
    let path = format!("/v1/approvals/{}", waits["approvals"][0]["approval_id"].as_str().unwrap());
    let edit = json!({ "decision": "edit", "set": { "subject": "other" }, "resume": false });
    let decided = client.post(&path, &edit).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let whole = client.get(&format!("/v1/runs/{run_id}/calls/1")).await.json();
    let edited = &whole["approvals"][0]["decision"]["arguments"];
    assert_eq!((&edited["subject"], &edited["to"]), (&json!("other"), &json!("admin@company.com")));
    assert_eq!(edited["body"].as_str().map(str::len), Some(360_000), "what was not named stays");

    let paused = client.post("/v1/runs?wait=25s", &json!({ "plan": MAILER })).await.json();
    let run_id = paused["run_id"].as_str().unwrap();
    let waits = client.get(&format!("/v1/approvals?run={run_id}")).await.json();
    let path = format!("/v1/approvals/{}", waits["approvals"][0]["approval_id"].as_str().unwrap());
    let merge = json!({ "decision": "edit", "merge": { "subject": "merged" }, "resume": false });
    let decided = client.post(&path, &merge).await.json();
    assert_eq!(decided["approval"]["decision"]["arguments"]["subject"], "merged", "{decided}");
}

#[tokio::test]
async fn a_run_that_cannot_go_on_asks_nobody_and_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        format!("{:?}", folder.path().join(name).display().to_string())
    };
    let (policy, word) = (path("policy.toml", POLICY), path("word", "hush-hush-9f3a"));
    let mut settings = vec![("policy.file", policy.as_str()), ("secrets.word.file", &word)];
    settings.extend(ABSENT_MAIL_SERVER);
    let service = Service::with(&settings, None).await;
    let client = &service.client;
    let context = json!({ "to": "admin@company.com", "note": "hush-hush-9f3a" });
    let outcome =
        client.post("/v1/runs?wait=25s", &json!({ "plan": MAILER, "context": context })).await.json();
    assert_eq!(outcome["status"], "paused", "{outcome}");
    assert_eq!(client.get("/v1/approvals").await.json()["approvals"], json!([]));
    let path = format!("/v1/runs/{}", outcome["run_id"].as_str().unwrap());
    let run = client.get(&path).await.json();
    assert_eq!(run["paused"]["approvals"], json!([]), "{run}");
    let stuck = &run["paused"]["cannot_go_on"];
    assert_eq!(stuck["code"], "run_not_resumable", "{run}");
    assert!(stuck["message"].as_str().unwrap().contains("a secret in its context"), "{run}");
    assert!(client.post(&format!("{path}/cancel"), &json!({})).await.status < 300);
}

#[tokio::test]
async fn rules_know_the_key_and_only_approvers_decide() {
    let policy = r#"version = 1
approvers = ["ops"]
[defaults]
send = "auto"
[[rule]]
name = "guests-ask"
tenant = "guest"
effect = "send"
decision = "manual"
reason = "guests are asked"
"#;
    let (service, _folder) = service(policy, true).await;
    let (mut ops, mut guest) = (service.client.clone(), service.client.clone());
    ops.key = Some("a".repeat(24));
    guest.key = Some("b".repeat(24));
    // Mail is not configured here: a call that was allowed says so.
    assert_eq!(ops.run(MAILER).await["result"]["code"], "smtp_failed");
    let autonomous = json!({ "plan": MAILER, "mode": "autonomous" });
    let answer = guest.post("/v1/runs?wait=25s", &autonomous).await;
    assert_eq!(answer.json()["status"], "paused", "{}", answer.text);
    let waits = guest.get("/v1/approvals").await.json()["approvals"][0].clone();
    assert_eq!(waits["tenant"], "guest");
    let path = format!("/v1/approvals/{}", waits["approval_id"].as_str().unwrap());
    let refused = guest.post(&path, &json!({ "decision": "once" })).await;
    assert_eq!((refused.status, &refused.json()["code"]), (403, &json!("forbidden")));
    let decided = ops.post(&path, &json!({ "decision": "once", "resume": false })).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    assert_eq!(decided.json()["run"], "left");
    assert_eq!(decided.json()["approval"]["decision"]["by"], "ops");
    let bad = guest.post("/v1/runs", &json!({ "plan": MAILER, "mode": "wild" })).await;
    assert_eq!(bad.status, 400, "{}", bad.text);
}

#[tokio::test]
async fn grants_are_listed_for_their_tenant_and_revoked_by_approvers() {
    let policy = format!("approvers = [\"ops\"]\n{POLICY}");
    let (service, _folder) = service(&policy, true).await;
    let (nobody, mut ops, mut guest) =
        (service.client.clone(), service.client.clone(), service.client.clone());
    ops.key = Some("a".repeat(24));
    guest.key = Some("b".repeat(24));
    assert_eq!(guest.get("/v1/grants").await.json()["grants"], json!([]));
    let paused = ops.post("/v1/runs?wait=25s", &json!({ "plan": MAILER })).await.json();
    let run_id = paused["run_id"].as_str().unwrap();
    let waits = ops.get("/v1/approvals").await.json()["approvals"][0].clone();
    let path = format!("/v1/approvals/{}", waits["approval_id"].as_str().unwrap());
    let decided = ops.post(&path, &json!({ "decision": "for", "for": "1h" })).await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    ops.until_ended(run_id).await;

    assert_eq!(guest.get("/v1/grants").await.json()["grants"], json!([]));
    let listed = ops.get("/v1/grants").await.json();
    let grant = &listed["grants"][0];
    assert_eq!(
        (&grant["tool"], &grant["run_id"], &grant["tenant"], &grant["by"], &grant["is_revoked"]),
        (&json!("send_email"), &json!(run_id), &json!("ops"), &json!("ops"), &json!(false)),
        "{listed}"
    );
    // Under the grant no approver is asked: mail is not configured here, and the call says so.
    assert_eq!(ops.run(MAILER).await["result"]["code"], "smtp_failed");
    let path = format!("/v1/grants/{}/revoke", grant["grant_id"].as_str().unwrap());
    nobody.post(&path, &json!({})).await.problem(401, "unauthorized");
    nobody.get("/v1/grants").await.problem(401, "unauthorized");
    guest.post(&path, &json!({})).await.problem(403, "forbidden");
    ops.post("/v1/grants/none/revoke", &json!({})).await.problem(404, "not_found");
    ops.get("/v1/grants?all=perhaps").await.problem(400, "bad_request");
    let revoked = ops.post(&path, &json!({})).await;
    assert_eq!(
        (revoked.status, &revoked.json()["grant"]["is_revoked"]),
        (200, &json!(true)),
        "{}",
        revoked.text
    );
    let stale = ops.post(&path, &json!({})).await.problem(409, "approval_stale");
    assert!(stale["help"].as_str().unwrap().contains("`GET /v1/grants?all=true`"), "{stale}");
    assert_eq!(guest.get("/v1/grants").await.json()["grants"], json!([]));
    assert_eq!(guest.get("/v1/grants?all=true").await.json()["grants"], json!([]));
    let all = ops.get("/v1/grants?all=true").await.json();
    assert_eq!((all["grants"].as_array().unwrap().len(), &all["grants"][0]["is_revoked"]), (1, &json!(true)));
    let asked = ops.post("/v1/runs?wait=25s", &json!({ "plan": MAILER })).await.json();
    assert_eq!(asked["status"], "paused", "{asked}");
}
