//! Approve, edit and reject over HTTP.

use serde_json::json;

use super::{asked, decide, events, id_of, path_of, plan, reply, service, waits};

#[tokio::test]
async fn an_approved_plan_runs_and_nothing_of_it_before() {
    let service = service(&[], vec![reply(None, &plan(1))]).await;
    let client = &service.client;
    let outcome = waits(client, &json!({ "context": { "a": 1 } })).await;
    let run_id = id_of(&outcome);
    let names = events(&service, &run_id).await;
    assert!(names.ends_with(&["plan_checked", "plan_approval_requested", "run_paused"]), "{names:?}");
    assert!(!names.contains(&"plan_accepted"), "{names:?}");
    let request = asked(client, &run_id).await;
    assert_eq!(
        (&request["call_id"], &request["task"], &request["effect"]),
        (&json!("plan"), &json!("Answer with a number."), &json!("read"))
    );
    assert_eq!(request["arguments"]["plan"], plan(1), "{request}");
    assert_eq!(request["plan"]["explanation"], "It answers with a number.");
    let effects = request["plan"]["effects"].as_str().unwrap();
    assert!(effects.contains("calls no tool") && effects.contains("{answer = 1}"), "{effects}");
    let path = path_of(&request);
    for body in [json!({ "decision": "for", "for": "1h" }), json!({ "decision": "deny", "reason": " " })] {
        client.post(&path, &body).await.problem(400, "bad_request");
    }
    let decided = decide(client, &run_id, &json!({ "decision": "once" })).await;
    assert_eq!((&decided["run"], &decided["pending"]), (&json!("resumed"), &json!(0)));
    let ended = client.until_ended(&run_id).await;
    assert_eq!(
        (&ended["status"], &ended["result"]),
        (&json!("succeeded"), &json!({ "answer": 1 })),
        "{ended}"
    );
    assert_eq!(
        (&ended["plan_decision"]["decision"], &ended["plan_decision"]["by"]),
        (&json!("once"), &json!("local"))
    );
    client.post(&path, &json!({ "decision": "once" })).await.problem(409, "approval_stale");
    let names = events(&service, &run_id).await;
    let asked = names.iter().filter(|name| **name == "plan_approval_requested").count();
    let order: Vec<usize> = ["approval_resolved", "run_resumed", "plan_accepted", "run_finished"]
        .map(|wanted| names.iter().position(|name| *name == wanted).unwrap())
        .to_vec();
    assert!(asked == 1 && order.is_sorted(), "{names:?}");
    // A replay asks nobody and comes to the same.
    let replayed = client.post(&format!("/v1/runs/{run_id}/replay"), &json!({})).await;
    assert_eq!(replayed.status, 200, "{}", replayed.text);
    assert_eq!(replayed.json()["same"], true, "{}", replayed.text);
    assert_eq!(client.get("/v1/approvals").await.json()["approvals"], json!([]));
    assert!(service.app.journal().verify().await.unwrap().ok);
}

#[tokio::test]
async fn an_edited_plan_is_checked_at_the_decision_and_runs_in_place_of_the_first() {
    let service = service(&[], vec![reply(None, &plan(1))]).await;
    let client = &service.client;
    let run_id = id_of(&waits(client, &json!({})).await);
    let path = path_of(&asked(client, &run_id).await);
    let edit = |plan: &str| json!({ "decision": "edit", "set": { "plan": plan } });
    let refused = client.post(&path, &edit("function run() return nothere() end")).await;
    let refused = refused.problem(422, "check_refused");
    assert!(!refused["findings"].as_array().unwrap().is_empty(), "{refused}");
    for arguments in [json!({ "plan": 1 }), json!({ "plan": plan(3), "task": "x" }), json!({})] {
        let body = json!({ "decision": "edit", "arguments": arguments });
        client.post(&path, &body).await.problem(400, "bad_request");
    }
    assert_eq!(asked(client, &run_id).await["arguments"]["plan"], plan(1), "nothing was decided");
    decide(client, &run_id, &edit(&plan(3))).await;
    let ended = client.until_ended(&run_id).await;
    assert_eq!(ended["result"], json!({ "answer": 3 }), "{ended}");
    assert_eq!(ended["plan_decision"]["decision"], "edit", "{ended}");
    assert_eq!(client.get(&format!("/v1/runs/{run_id}/plan")).await.text, plan(3));
    let replayed = client.post(&format!("/v1/runs/{run_id}/replay"), &json!({})).await.json();
    assert_eq!(replayed["same"], true, "{replayed}");
    assert!(service.app.journal().verify().await.unwrap().ok);
}

#[tokio::test]
async fn a_rejected_plan_is_planned_anew_with_the_reason_and_asked_about_again() {
    let told = "rejected it and says:\n> two, please";
    let replies = vec![reply(Some(told), &plan(2)), reply(None, &plan(1))];
    let service = service(&[], replies).await;
    let client = &service.client;
    let run_id = id_of(&waits(client, &json!({})).await);
    let first = asked(client, &run_id).await;
    assert_eq!(first["arguments"]["plan"], plan(1), "{first}");
    decide(client, &run_id, &json!({ "decision": "deny", "reason": "two, please" })).await;
    let again = client.until_ended(&run_id).await;
    assert_eq!(again["status"], "paused", "{again}");
    let second = asked(client, &run_id).await;
    assert_eq!(second["arguments"]["plan"], plan(2), "{second}");
    assert_ne!(first["approval_id"], second["approval_id"]);
    // What was decided about the first says nothing of the second.
    client.post(&path_of(&first), &json!({ "decision": "once" })).await.problem(409, "approval_stale");
    decide(client, &run_id, &json!({ "decision": "once" })).await;
    let ended = client.until_ended(&run_id).await;
    assert_eq!(ended["result"], json!({ "answer": 2 }), "{ended}");
}

#[tokio::test]
async fn after_some_rejections_the_run_fails() {
    let replies = (0..6).map(|_| reply(None, &plan(1))).collect();
    let service = service(&[], replies).await;
    let client = &service.client;
    let run_id = id_of(&waits(client, &json!({})).await);
    for round in 1..=6 {
        let reason = format!("not so, {round}");
        decide(client, &run_id, &json!({ "decision": "deny", "reason": reason })).await;
        let run = client.until_ended(&run_id).await;
        match round {
            6 => assert_eq!(
                (&run["status"], &run["error"]["code"]),
                (&json!("failed"), &json!("approval_denied")),
                "{run}"
            ),
            // The same plan again is asked about again.
            _ => assert_eq!(run["status"], "paused", "{round}: {run}"),
        }
    }
    let planned = events(&service, &run_id).await.iter().filter(|name| **name == "plan_proposed").count();
    assert_eq!(planned, 6);
}

#[tokio::test]
async fn a_plan_after_a_failed_run_is_asked_about_too() {
    let fails = "function run(context)\n  local made = transform_data(1, '{{ input }}', 'text')\n  error('no ' .. made)\nend\n";
    let better = "function run(context)\n  return { made = transform_data(2, '{{ input }}', 'text') }\nend\n";
    // The same plan again is asked about again: it would do again what it did.
    let told = Some("was run and failed");
    let replies = vec![reply(told, fails), reply(told, better), reply(None, fails)];
    let service = service(&[("planner.replans", "2")], replies).await;
    let client = &service.client;
    let run_id = id_of(&waits(client, &json!({})).await);
    for waiting in [fails, fails, better] {
        assert_eq!(client.until_ended(&run_id).await["status"], "paused");
        assert_eq!(asked(client, &run_id).await["arguments"]["plan"], waiting);
        decide(client, &run_id, &json!({ "decision": "once" })).await;
    }
    let ended = client.until_ended(&run_id).await;
    assert_eq!(
        (&ended["status"], &ended["result"]),
        (&json!("succeeded"), &json!({ "made": "2" })),
        "{ended}"
    );
    assert_eq!(ended["tool_calls"], 3, "{ended}");
    let names = events(&service, &run_id).await;
    let count = |wanted: &str| names.iter().filter(|name| **name == wanted).count();
    assert_eq!(
        (count("plan_approval_requested"), count("plan_accepted"), count("replan_round")),
        (3, 3, 2),
        "{names:?}"
    );
    assert!(service.app.journal().verify().await.unwrap().ok);
}

#[tokio::test]
async fn a_plan_that_could_not_go_on_after_a_decision_is_not_asked_about() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("word"), "hush-hush-9f3a").unwrap();
    let word = format!("{:?}", folder.path().join("word").display().to_string());
    let service = service(&[("secrets.word.file", &word)], vec![reply(None, &plan(1))]).await;
    let body = json!({ "task": "x", "approve": true, "context": { "note": "hush-hush-9f3a" } });
    let outcome = service.client.post("/v1/tasks?wait=25s", &body).await.json();
    assert_eq!(
        (&outcome["status"], &outcome["error"]["code"]),
        (&json!("failed"), &json!("run_not_resumable")),
        "{outcome}"
    );
    assert!(!outcome.to_string().contains("hush-hush"), "{outcome}");
}

#[tokio::test]
async fn without_the_wish_nobody_is_asked() {
    let service = service(&[], vec![reply(None, &plan(1)), reply(None, &plan(1))]).await;
    for body in [json!({ "task": "x" }), json!({ "task": "x", "approve": false })] {
        let outcome = service.client.post("/v1/tasks?wait=25s", &body).await.json();
        assert_eq!(outcome["status"], "succeeded", "{outcome}");
        let started = &service.records(&id_of(&outcome)).await[0];
        assert!(serde_json::to_value(&started.event).unwrap().get("approve").is_none());
    }
}
