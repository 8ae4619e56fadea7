//! Killed between request, decision and call: the request is asked once, the decision holds, the mail goes
//! out once.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use luaplan::app::{App, ApprovalAnswer, CallResolution};
use luaplan::journal::{RecordFilter, Resolved};

use super::*;
use crate::survival::{Case, Job, Kill, open};

type Flags = Vec<(String, toml::Value)>;

fn job(folder: &Path, flags: &Flags, run_id: &RunId, decides: bool, kill: Option<Kill>) -> Job {
    let case = Case {
        name: "mailer".to_owned(),
        source: MAILER.to_owned(),
        context: serde_json::json!({}),
        limits: Vec::new(),
    };
    let run_id = run_id.to_string();
    Job { folder: folder.to_owned(), flags: flags.clone(), run_id, case, kill, decides, stops: false }
}

/// From wherever the run is, the way a person and a supervisor would take it to its end. Says how often it
/// was asked.
async fn to_its_end(app: &App, governed: &Governed, run_id: &RunId, mails_before: usize) {
    for _ in 0..5 {
        let state = app.journal().run_state(run_id).await.unwrap().unwrap();
        if state.status == RunStatus::Succeeded {
            return;
        }
        for waits in app.approvals().pending(Some(run_id)).await.unwrap() {
            decide(app, &waits.request.approval_id, ApprovalAnswer::Once, "ann").await.unwrap();
        }
        let arrived = governed.mails() > mails_before;
        let mut request = resume_request(run_id);
        request.resolutions = state
            .calls_in_doubt()
            .map(|call| CallResolution {
                call_id: call.call_id.to_string(),
                resolved: match arrived {
                    true => Resolved::Done { result: serde_json::from_str(survival_result()).unwrap() },
                    false => Resolved::Retry,
                },
            })
            .collect();
        app.resume(request).await.unwrap();
    }
}

const fn survival_result() -> &'static str {
    r#"{"delivered": true, "message_id": "m", "recipients": [], "size_bytes": 1, "response": "250 taken"}"#
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_killed_around_its_request_decision_and_call_sends_once() {
    let governed = Governed::new(POLICY).await;
    let mut flags = governed.bench.parts.configuration();
    flags.push(("policy.file".to_owned(), governed.policy.display().to_string().into()));
    // The undisturbed writes of both halves: up to the pause, and from the decision to the end.
    let folder = tempfile::tempdir().unwrap();
    let run_id = RunId::generate();
    assert!(job(folder.path(), &flags, &run_id, false, None).run().success());
    let app = open(folder.path(), flags.clone(), None).await;
    let of_run = RecordFilter { run_id: Some(run_id.clone()), ..RecordFilter::default() };
    let first_half = app.journal().records(of_run.clone()).await.unwrap().len() as u64;
    app.journal().close().await;
    assert!(job(folder.path(), &flags, &run_id, true, None).run().success());
    let app = open(folder.path(), flags.clone(), None).await;
    let all = app.journal().records(of_run).await.unwrap();
    app.journal().close().await;
    let names: Vec<&str> = all.iter().map(|record| record.event.body.name()).collect();
    assert!(names.ends_with(&["tool_call_finished", "run_finished"]), "{names:?}");
    let second_half = all.len() as u64 - first_half;

    // From the request on: what is before it, other tests kill.
    let asked = names.iter().position(|name| *name == "approval_requested").unwrap() as u64 + 1;
    let points =
        (asked..=first_half).map(|write| (false, write)).chain((1..=second_half).map(|write| (true, write)));
    let mut killed = 0;
    for (decides, write) in points {
        for after in [false, true] {
            let place = format!("decides: {decides}, write {write}, after: {after}");
            let folder = tempfile::tempdir().unwrap();
            let mails_before = governed.mails();
            let run_id = RunId::generate();
            let kill = Some(Kill { write, after });
            if decides {
                assert!(job(folder.path(), &flags, &run_id, false, None).run().success());
            }
            let status = job(folder.path(), &flags, &run_id, decides, kill).run();
            assert_eq!(status.signal(), Some(9), "{place}: {status}");
            killed += 1;
            let app = open(folder.path(), flags.clone(), None).await;
            to_its_end(&app, &governed, &run_id, mails_before).await;
            let state = app.journal().run_state(&run_id).await.unwrap().unwrap();
            assert_eq!(state.status, RunStatus::Succeeded, "{place}: {state:?}");
            assert_eq!(governed.mails() - mails_before, 1, "{place}");
            let filter = RecordFilter {
                run_id: Some(run_id.clone()),
                events: vec!["approval_requested".into(), "approval_resolved".into()],
                ..RecordFilter::default()
            };
            assert_eq!(app.journal().records(filter).await.unwrap().len(), 2, "{place}");
            assert!(app.journal().verify().await.unwrap().ok, "{place}");
            app.journal().close().await;
        }
    }
    assert!(killed >= 14, "only {killed} places");
}
