//! A node that stalls past its lease, and then continues as if nothing had happened.

use std::os::unix::process::ExitStatusExt as _;
use std::process::Stdio;
use std::time::Duration;

use luaplan::app::CallResolution;
use luaplan::base::{ErrorCode, RunId};
use luaplan::journal::{EventBody, Resolved, RunStatus};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde_json::json;

use super::history::faults;
use super::{Ledger, Node, furnish, journal, records};
use crate::app_parts::environment;
use crate::postgres_support::Database;
use crate::survival::{Case, Job, Kill, resume, resume_request};

const PLAN: &str =
    "function run(context)\n  book(\"first\")\n  mark(\"second\")\n  return book(\"third\").key\nend";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stalled_node_loses_its_run_and_then_writes_and_sends_nothing() {
    let Some(database) = Database::new("a stalled node").await else { return };
    let ledger = Ledger::start().await;
    let (stalled, other) =
        (Node::start(&database, &ledger, "").await, Node::start(&database, &ledger, "").await);
    ledger.hold("first");
    let begun = stalled.client.post("/v1/runs", &json!({ "plan": PLAN })).await;
    assert_eq!(begun.status, 202, "{}", begun.text);
    let run_id = begun.json()["run_id"].as_str().unwrap().to_owned();
    ledger.asked(1, 0).await;
    stalled.signal(Signal::SIGSTOP);
    // The other node repeats the call under the same key, which succeeds, and runs to the end.
    let ended = other.client.until_ended(&run_id).await;
    assert_eq!(ended["status"], "succeeded", "{ended}");
    let journal = journal(&database).await;
    let before = records(&journal, &run_id).await;

    stalled.signal(Signal::SIGCONT);
    ledger.let_go();
    while !stalled.log().contains("run_taken_over") {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // It serves on, and tells of the run what the journal says.
    assert_eq!(stalled.client.get(&format!("/v1/runs/{run_id}")).await.json()["status"], "succeeded");
    {
        let book = ledger.book();
        assert_eq!(book.keys.values().copied().collect::<Vec<_>>().iter().sum::<u32>(), 3, "{:?}", book.keys);
        assert_eq!(book.keys.len(), 2);
        assert_eq!(book.marks.values().copied().collect::<Vec<_>>(), [1]);
    }
    let after = records(&journal, &run_id).await;
    assert_eq!(after.len(), before.len(), "the old owner wrote");
    assert_eq!(faults(&after, |tool| tool == "book"), Vec::<String>::new());
    let done = stalled.client.run("function run() return 7 end").await;
    assert_eq!(done["result"], 7, "{done}");
    assert!(journal.verify().await.unwrap().ok);
}

/// The process stops itself right after an intent is on the disk, so that nothing but its own look at its
/// lease stands between its waking and the effect.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_that_stood_still_between_intent_and_effect_does_not_send() {
    let Some(database) = Database::new("a stall between intent and effect").await else { return };
    let (ledger, folder) = (Ledger::start().await, tempfile::tempdir().unwrap());
    furnish(folder.path(), &database, &ledger, "");
    let run_id = RunId::generate();
    let case = Case {
        name: "mark".to_owned(),
        source: "function run() return mark('once').marked end".to_owned(),
        context: json!({}),
        limits: Vec::new(),
    };
    let job = Job {
        folder: folder.path().to_owned(),
        flags: Vec::new(),
        run_id: run_id.to_string(),
        case,
        // run_started, plan_proposed, plan_checked, plan_accepted, tool_call_started.
        kill: Some(Kill { write: 5, after: true }),
        decides: false,
        stops: true,
    };
    let mut child = job.command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let pid = Pid::from_raw(child.id().cast_signed());
    let stopped = tokio::task::spawn_blocking(move || waitpid(pid, Some(WaitPidFlag::WUNTRACED)));
    let stopped = stopped.await.unwrap().unwrap();
    assert!(matches!(stopped, WaitStatus::Stopped(_, Signal::SIGSTOP)), "{stopped:?}");

    let loaded = luaplan::app::config::load(
        &environment(folder.path()),
        &luaplan::app::config::LoadOptions::default(),
    )
    .unwrap();
    let app = luaplan::app::App::open(&loaded, &environment(folder.path())).await.unwrap();
    let paused = loop {
        match resume(&app, &run_id).await {
            Err(error) if error.code() == ErrorCode::RunActive => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            other => break other.unwrap(),
        }
    };
    assert_eq!(paused.status(), RunStatus::Paused, "{paused:?}");
    assert!(ledger.book().marks.is_empty());
    let mut request = resume_request(&run_id);
    request.resolutions = vec![CallResolution { call_id: "1".to_owned(), resolved: Resolved::Retry }];
    assert_eq!(app.resume(request).await.unwrap().status(), RunStatus::Succeeded);

    kill(pid, Signal::SIGCONT).unwrap();
    let ended = tokio::task::spawn_blocking(move || child.wait()).await.unwrap().unwrap();
    assert_eq!(ended.signal(), None, "{ended}");
    assert_eq!(ledger.book().marks.values().copied().collect::<Vec<_>>(), [1]);
    let records = records(&journal(&database).await, run_id.as_str()).await;
    assert_eq!(faults(&records, |_| false), Vec::<String>::new());
    assert!(matches!(records.last().unwrap().event.body, EventBody::RunFinished { .. }));
    assert!(app.journal().verify().await.unwrap().ok);
    app.journal().close().await;
}
