//! A run and its agents, killed before and after the records they write, and resumed: nothing is lost,
//! nothing is done twice.

use std::os::unix::process::ExitStatusExt as _;

use luaplan::app::CallResolution;
use luaplan::base::{ErrorCode, RunId};
use luaplan::demo::DemoParts;
use luaplan::journal::{JournalRead as _, RecordFilter, Resolved, RunStatus};

use super::{COUNTER, agent};
use crate::survival::{Case, Job, Kill, open, resume_request, subjects};

/// Two agents side by side, each with a mail, and one after them.
const FAMILY: &str = r#"function run(context)
  local both = parallel{
    function() return call_agent("teller", { above = 30, tell = "admin@company.com" }) end,
    function() return call_agent("teller", { above = 40, tell = "admin@company.com" }) end,
  }
  local last = call_agent("teller", { above = 50, tell = "admin@company.com" })
  if both[1].error or both[2].error or last.error then return both[1].error or both[2].error or last.error end
  return { both[1].count, both[2].count, last.count }
end"#;

/// One in so many places is tried.
const ONE_IN: u64 = 3;

fn job(parts: &DemoParts, folder: &std::path::Path, run_id: &RunId, kill: Option<Kill>) -> Job {
    std::fs::create_dir_all(folder).unwrap();
    let mut flags = parts.configuration();
    let (key, text) = agent(folder, "teller", COUNTER, &["query_db", "send_email"]);
    flags.push(crate::app_parts::setting(&key, &text));
    let case = Case {
        name: "family".to_owned(),
        source: FAMILY.to_owned(),
        context: serde_json::json!({}),
        limits: Vec::new(),
    };
    Job {
        folder: folder.to_owned(),
        flags,
        run_id: run_id.to_string(),
        case,
        kill,
        stops: false,
        decides: false,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_family_killed_at_any_write_goes_on_and_repeats_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let parts = DemoParts::start(&folder.path().join("parts")).await.unwrap();
    let run_id = RunId::generate();
    let first = job(&parts, &folder.path().join("undisturbed"), &run_id, None);
    assert!(first.run().success());
    let app = open(&first.folder, first.flags.clone(), None).await;
    let writes = app.journal().records(RecordFilter::default()).await.unwrap().len() as u64;
    let expected = app.journal().run_state(&run_id).await.unwrap().unwrap();
    assert_eq!(expected.status, RunStatus::Succeeded, "{expected:?}");
    let mails = subjects(&parts, 0);
    assert_eq!(mails.len(), 3);
    let (mut killed, mut asked) = (0, 0);
    for write in 1..=writes {
        for after in [false, true] {
            if !(write * 2 + u64::from(after)).is_multiple_of(ONE_IN) {
                continue;
            }
            killed += 1;
            asked += u32::from(survive(&parts, Kill { write, after }, expected.result.clone(), &mails).await);
        }
    }
    eprintln!("killed {killed} times; {asked} times a person was asked");
    assert!(killed > 15 && asked > 0, "the sample is too small: {killed}, {asked}");
    parts.stop().await;
}

/// Whether a person had to look.
async fn survive(
    parts: &DemoParts,
    kill: Kill,
    expected: Option<serde_json::Value>,
    mails: &[String],
) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let (run_id, known) = (RunId::generate(), parts.received().len());
    let job = job(parts, folder.path(), &run_id, Some(kill));
    let status = job.run();
    // Which of the agents writes first differs, so the last places may not be reached.
    if status.success() {
        return false;
    }
    assert_eq!(status.signal(), Some(9), "{kill:?}: {status}");
    let app = open(folder.path(), job.flags.clone(), None).await;
    let Some(state) = app.journal().run_state(&run_id).await.unwrap() else { return false };
    if state.source.is_none() || state.status != RunStatus::Running {
        return false;
    }
    let mut outcome = app.resume(resume_request(&run_id)).await.unwrap();
    let mut had_to_ask = false;
    // Each agent may have had a mail under way.
    for _ in 0..3 {
        if outcome.status() != RunStatus::Paused {
            break;
        }
        had_to_ask = true;
        assert_eq!(outcome.error().unwrap().code(), ErrorCode::CallInDoubt, "{kill:?}");
        let mut named = None;
        for run in app.journal().runs(luaplan::journal::RunFilter::default()).await.unwrap() {
            let state = app.journal().run_state(&run.run_id).await.unwrap().unwrap();
            let arrived = subjects(parts, known);
            let doubtful = state.calls_in_doubt().filter(|call| call.tool == "send_email");
            let resolutions: Vec<CallResolution> = doubtful
                .map(|call| {
                    let subject = call.arguments["subject"].as_str().unwrap();
                    let resolved = if arrived.iter().any(|arrived| arrived == subject) {
                        let taken = serde_json::json!({ "delivered": true, "message_id": "m", "recipients": [], "size_bytes": 1, "response": "250" });
                        Resolved::Done { result: taken }
                    } else {
                        Resolved::Retry
                    };
                    CallResolution { call_id: call.call_id.to_string(), resolved }
                })
                .collect();
            if !resolutions.is_empty() && run.status == RunStatus::Paused {
                named = Some((run.run_id, resolutions));
            }
        }
        let (child, resolutions) = named.unwrap();
        let mut request = resume_request(&child);
        request.resolutions = resolutions;
        outcome = app.resume(request).await.unwrap();
    }
    assert_eq!(outcome.run_id, run_id, "{kill:?}");
    assert_eq!(Some(outcome.result.unwrap().to_json()), expected, "{kill:?}");
    assert_eq!(subjects(parts, known), mails, "{kill:?}: lost or repeated");
    assert!(app.journal().verify().await.unwrap().ok, "{kill:?}");
    app.journal().close().await;
    had_to_ask
}
