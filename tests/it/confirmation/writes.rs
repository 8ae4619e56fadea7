//! A process is killed at each write from the request about a plan on: it is asked once, decided once, run once.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use luaplan::app::{App, ApprovalAnswer};
use luaplan::base::RunId;
use luaplan::journal::{JournalRead as _, RecordFilter, RunStatus};
use serde_json::json;

use super::plan;
use crate::approvals::{decide, resume_request};
use crate::llm::server::{Answer, Server};
use crate::survival::{Case, Job, Kill, open};

type Flags = Vec<(String, toml::Value)>;

/// A streamed answer of a model that needs no key.
fn answer(source: &str) -> Answer {
    let text = json!({ "plan": source, "explanation": "x" }).to_string();
    let said = json!({ "model": "m", "created_at": "2026-01-01T00:00:00Z",
        "message": { "role": "assistant", "content": text }, "done": false });
    let end = json!({ "model": "m", "created_at": "2026-01-01T00:00:00Z",
        "message": { "role": "assistant", "content": "" }, "done": true, "done_reason": "stop",
        "prompt_eval_count": 10, "eval_count": 5 });
    Answer::text("application/x-ndjson", &format!("{said}\n{end}\n"))
}

async fn job(folder: &Path, flags: &Flags, run_id: &RunId, decides: bool, kill: Option<Kill>) -> Option<i32> {
    let case = Case {
        name: Case::TASK.to_owned(),
        source: "Answer with a number.".to_owned(),
        context: json!({}),
        limits: Vec::new(),
    };
    let (folder, flags, run_id) = (folder.to_owned(), flags.clone(), run_id.to_string());
    let job = Job { folder, flags, run_id, case, kill, decides, stops: false };
    tokio::task::spawn_blocking(move || job.run().signal()).await.unwrap()
}

async fn names(app: &App, run_id: &RunId) -> Vec<&'static str> {
    let filter = RecordFilter { run_id: Some(run_id.clone()), ..RecordFilter::default() };
    app.journal().records(filter).await.unwrap().iter().map(|record| record.event.body.name()).collect()
}

/// From wherever the run is, the way a person takes it to its end.
async fn to_its_end(app: &App, run_id: &RunId) {
    for _ in 0..3 {
        if app.journal().run_state(run_id).await.unwrap().unwrap().status == RunStatus::Succeeded {
            return;
        }
        for waits in app.approvals().pending(Some(run_id)).await.unwrap() {
            decide(app, &waits.request.approval_id, ApprovalAnswer::Once, "ann").await.unwrap();
        }
        app.resume(resume_request(run_id)).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_is_asked_about_decided_and_run_once_wherever_its_process_is_killed() {
    let model = Server::start((0..40).map(|_| answer(&plan(1)))).await;
    let flags: Flags = [("provider", "ollama"), ("model", "m"), ("base_url", &model.base_url())]
        .map(|(key, text)| (format!("llm.{key}"), text.into()))
        .to_vec();
    let folder = tempfile::tempdir().unwrap();
    let run_id = RunId::generate();
    job(folder.path(), &flags, &run_id, false, None).await;
    let app = open(folder.path(), flags.clone(), None).await;
    let first_half = names(&app, &run_id).await;
    assert!(first_half.ends_with(&["plan_approval_requested", "run_paused"]), "{first_half:?}");
    app.journal().close().await;
    job(folder.path(), &flags, &run_id, true, None).await;
    let app = open(folder.path(), flags.clone(), None).await;
    let all = names(&app, &run_id).await;
    app.journal().close().await;
    let second_half = &all[first_half.len()..];
    assert_eq!(second_half, ["approval_resolved", "run_resumed", "plan_accepted", "run_finished"]);

    let (asked, decided) = (first_half.len() as u64 - 1, second_half.len() as u64);
    let first =
        [(asked, true), (asked + 1, false), (asked + 1, true)].map(|(write, after)| (false, write, after));
    let second = (1..=decided).flat_map(|write| [(true, write, false), (true, write, true)]);
    for (decides, write, after) in first.into_iter().chain(second) {
        let place = format!("decides: {decides}, write {write}, after: {after}");
        let folder = tempfile::tempdir().unwrap();
        let run_id = RunId::generate();
        if decides {
            job(folder.path(), &flags, &run_id, false, None).await;
        }
        let signal = job(folder.path(), &flags, &run_id, decides, Some(Kill { write, after })).await;
        assert_eq!(signal, Some(9), "{place}");
        let app = open(folder.path(), flags.clone(), None).await;
        to_its_end(&app, &run_id).await;
        let state = app.journal().run_state(&run_id).await.unwrap().unwrap();
        assert_eq!(
            (state.status, state.result),
            (RunStatus::Succeeded, Some(json!({ "answer": 1 }))),
            "{place}"
        );
        let names = names(&app, &run_id).await;
        for once in ["plan_proposed", "plan_approval_requested", "approval_resolved", "plan_accepted"] {
            assert_eq!(names.iter().filter(|name| **name == once).count(), 1, "{place}, {once}: {names:?}");
        }
        assert!(app.journal().verify().await.unwrap().ok, "{place}");
        app.journal().close().await;
    }
}
