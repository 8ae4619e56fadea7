//! Killed around question, answer and result: asked once, answered once.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;

use luaplan::journal::{JournalRead as _, RecordFilter};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::*;
use crate::http_support::{Client, until};
use crate::survival::{Case, Job, Kill, open};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_killed_at_any_write_asks_once_and_ends_with_the_answer() {
    let run_job = |folder: &std::path::Path, run_id: &RunId, kill: Option<Kill>| {
        let case =
            Case { name: "asks".to_owned(), source: ASKS.to_owned(), context: json!({}), limits: Vec::new() };
        let job = Job {
            folder: folder.to_owned(),
            flags: Vec::new(),
            run_id: run_id.to_string(),
            case,
            kill,
            decides: false,
            stops: false,
        };
        job.run()
    };
    let folder = tempfile::tempdir().unwrap();
    let run_id = RunId::generate();
    assert!(run_job(folder.path(), &run_id, None).success());
    let app = open(folder.path(), Vec::new(), None).await;
    let of_run = |run_id: &RunId| RecordFilter { run_id: Some(run_id.clone()), ..RecordFilter::default() };
    let all = app.journal().records(of_run(&run_id)).await.unwrap();
    app.journal().close().await;
    let names: Vec<&str> = all.iter().map(|record| record.event.body.name()).collect();
    assert!(names.ends_with(&["question_asked", "run_paused"]), "{names:?}");
    // From the plan on: a run that did nothing yet is started again.
    let first = names.iter().position(|name| *name == "plan_accepted").unwrap() as u64 + 1;
    for write in first..=all.len() as u64 {
        for after in [false, true] {
            let place = format!("write {write}, after: {after}");
            let folder = tempfile::tempdir().unwrap();
            let run_id = RunId::generate();
            let status = run_job(folder.path(), &run_id, Some(Kill { write, after }));
            assert_eq!(status.signal(), Some(9), "{place}: {status}");
            let app = open(folder.path(), Vec::new(), None).await;
            if app.journal().run_state(&run_id).await.unwrap().unwrap().open_questions().next().is_none() {
                assert_waits(&app.resume(resume_request(&run_id)).await.unwrap());
            }
            answer(&app, &run_id, "1", "May", "ann").await.unwrap();
            let done = app.resume(resume_request(&run_id)).await.unwrap();
            assert_eq!(done.result.unwrap().to_json(), json!({ "month": "May" }), "{place}");
            let records = app.journal().records(of_run(&run_id)).await.unwrap();
            for name in ["question_asked", "question_answered", "tool_call_finished"] {
                let count = records.iter().filter(|record| record.event.body.name() == name).count();
                assert_eq!(count, 1, "{place} {name}");
            }
            assert!(app.journal().verify().await.unwrap().ok, "{place}");
            app.journal().close().await;
        }
    }
}

/// The real service, killed while a person thinks: the next one on the folder takes the answer.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_killed_between_question_and_answer_goes_on_after_its_restart() {
    let folder = tempfile::tempdir().unwrap();
    let serve = async || {
        let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_luaplan"));
        command.current_dir(folder.path()).env_clear().env("HOME", folder.path()).kill_on_drop(true);
        command.args(["serve", "--set", "server.listen=127.0.0.1:0"]);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        listening(command).await
    };
    let (mut child, client) = serve().await;
    let begun = client.post("/v1/runs?wait=25s", &json!({ "plan": ASKS })).await.json();
    assert_eq!(begun["status"], "paused", "{begun}");
    let run = begun["run_id"].as_str().unwrap().to_owned();
    child.kill().await.unwrap();

    // Recorded by a command while no service runs, and left to the service.
    let told = crate::cli::finish(
        std::process::Command::new(env!("CARGO_BIN_EXE_luaplan"))
            .args(["answer", &run, "June", "--no-resume"])
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", folder.path()),
    );
    told.exits(0);
    let (mut child, client) = serve().await;
    assert_eq!(client.get("/v1/questions").await.json()["questions"], json!([]));
    client
        .post(&format!("/v1/questions/{run}:1"), &json!({ "answer": "May" }))
        .await
        .problem(409, "answer_stale");
    client.post(&format!("/v1/runs/{run}/resume"), &json!({})).await;
    let ended = until(async || {
        let run = client.get(&format!("/v1/runs/{run}")).await.json();
        (run["status"] == "succeeded").then_some(run)
    })
    .await;
    assert_eq!(ended["result"], json!({ "month": "June" }));

    // Answered over HTTP, and killed before anything can have gone on; the next service goes on by itself.
    let begun = client.post("/v1/runs?wait=25s", &json!({ "plan": ASKS })).await.json();
    let run = begun["run_id"].as_str().unwrap().to_owned();
    let answered = client.post(&format!("/v1/questions/{run}:1"), &json!({ "answer": "May" })).await;
    assert_eq!(answered.status, 200, "{}", answered.text);
    child.kill().await.unwrap();
    let (_child, client) = serve().await;
    until(async || {
        let run = client.get(&format!("/v1/runs/{run}")).await.json();
        (run["result"] == json!({ "month": "May" })).then_some(())
    })
    .await;
    assert!(
        client.get(&format!("/v1/audit?run={run}&event=question_asked")).await.json()["records"][1].is_null()
    );
}

/// A service that was started, once it answers.
pub(super) async fn listening(mut command: tokio::process::Command) -> (tokio::process::Child, Client) {
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let base = loop {
        let line = lines.next_line().await.unwrap().unwrap();
        if let Some(base) = line.strip_prefix("listening on ") {
            break base.to_owned();
        }
    };
    tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
    (child, Client::new(&base))
}
