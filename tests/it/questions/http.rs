//! Questions over HTTP: listed, answered, once, by one's own tenant alone.

use serde_json::json;

use super::ASKS;
use crate::http_support::{Client, Service};

async fn keyed(keys: &str) -> (Service, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("keys");
    std::fs::write(&file, keys).unwrap();
    let file = format!("{:?}", file.display().to_string());
    (Service::with(&[("server.api_keys_file", &file)], None).await, folder)
}

fn key(name: &str) -> String {
    format!("{name}-0123456789-abcdefghij")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_forty_keys_one_answers_and_the_others_are_told_who() {
    let keys: String = (0..40)
        .map(|number| format!("p{number:02} {} tenant=acme\n", key(&format!("p{number:02}"))))
        .collect();
    let (service, _folder) = keyed(&keys).await;
    let of = |number: usize| Client { key: Some(key(&format!("p{number:02}"))), ..service.client.clone() };
    let paused = of(0).post("/v1/runs?wait=25s", &json!({ "plan": ASKS })).await.json();
    assert_eq!((&paused["status"], &paused["error"]["code"]), (&json!("paused"), &json!("answer_required")));
    assert!(paused["error"]["help"].as_str().unwrap().contains("POST /v1/questions/"), "{paused}");
    let run = paused["run_id"].as_str().unwrap().to_owned();
    let listed = of(1).get("/v1/questions").await.json();
    let question = listed["questions"][0].clone();
    assert_eq!(question["question"], "Which month?", "{listed}");
    assert_eq!(paused["error"]["questions"][0]["question_id"], question["question_id"], "{paused}");
    let path = format!("/v1/questions/{}", question["question_id"].as_str().unwrap());
    let refused = of(1).post(&path, &json!({ "answer": "July" })).await.problem(400, "bad_request");
    assert_eq!(refused["choices"], json!(["May", "June"]), "{refused}");
    let answers = futures::future::join_all((0..40).map(|number| {
        let (client, path) = (of(number), path.clone());
        let body = json!({ "answer": if number % 2 == 0 { "May" } else { "June" }, "resume": number != 7 });
        tokio::spawn(async move { client.post(&path, &body).await })
    }))
    .await;
    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    let won: Vec<usize> = (0..40).filter(|number| answers[*number].status == 200).collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    let winner = format!("p{:02}", won[0]);
    assert_eq!(answers[won[0]].json()["question"]["answer"]["by"], winner.as_str());
    for lost in (0..40).filter(|number| *number != won[0]) {
        let problem = answers[lost].problem(409, "answer_stale");
        assert!(problem["message"].as_str().is_some_and(|told| told.contains(&winner)), "{problem}");
    }
    let month = if won[0].is_multiple_of(2) { "May" } else { "June" };
    if won[0] == 7 {
        of(0).post(&format!("/v1/runs/{run}/resume"), &json!({})).await;
    }
    let ended = of(0).until_ended(&run).await;
    let ended = if ended["status"] == "paused" { of(0).until_ended(&run).await } else { ended };
    assert_eq!(ended["result"], json!({ "month": month }), "{ended}");
    assert_eq!(of(1).get("/v1/questions").await.json()["questions"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_tenant_sees_and_answers_nothing_and_a_key_needs_the_scope() {
    let names = ["acme tenant=acme", "other tenant=other", "starts tenant=acme scopes=runs:start,runs:read"];
    let keys: String = names
        .iter()
        .map(|line| {
            let (name, rest) = line.split_once(' ').unwrap();
            format!("{name} {} {rest}\n", key(name))
        })
        .collect();
    let (service, _folder) = keyed(&keys).await;
    let of = |name: &str| Client { key: Some(key(name)), ..service.client.clone() };
    let paused = of("starts").post("/v1/runs?wait=25s", &json!({ "plan": ASKS })).await.json();
    let run = paused["run_id"].as_str().unwrap();
    let (list, path) = (format!("/v1/questions?run={run}"), format!("/v1/questions/{run}:1"));
    let answer = json!({ "answer": "May" });
    assert_eq!(of("other").get("/v1/questions").await.json()["questions"], json!([]));
    of("other").get(&list).await.problem(404, "not_found");
    of("other").post(&path, &answer).await.problem(404, "not_found");
    of("starts").get("/v1/questions").await.problem(403, "forbidden");
    of("starts").post(&path, &answer).await.problem(403, "forbidden");
    assert_eq!(of("acme").get(&list).await.json()["questions"][0]["call_id"], "1");
    let unknown = format!("/v1/questions/{run}:9");
    of("acme").post(&unknown, &answer).await.problem(404, "not_found");
    of("acme").post("/v1/questions/nobody:1", &answer).await.problem(404, "not_found");
    let left = of("acme").post(&path, &json!({ "answer": "May", "resume": false })).await;
    assert_eq!((left.status, &left.json()["run"]), (200, &json!("left")), "{}", left.text);
    let shown = of("acme").get(&format!("/v1/runs/{run}")).await.json();
    assert_eq!(shown["status"], "paused", "{shown}");
    let resumed = of("acme").post(&format!("/v1/runs/{run}/resume?wait=25s"), &json!({})).await;
    assert!(resumed.status < 300, "{}", resumed.text);
}
