//! Each plan, killed before and after each record it writes, and resumed: nothing is lost, nothing
//! is done twice.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use luaplan::app::{App, CallResolution};
use luaplan::base::{ErrorCode, RunId};
use luaplan::demo::DemoParts;
use luaplan::journal::{JournalRead as _, RecordFilter, Resolved, RunState, RunStatus};

use super::{Case, Job, Kill, cases, open, resume_request, subjects};
use crate::postgres_support::Database;

/// Kill points tried: `all` of them, those of the plan of this name, or else each of them in one of so many plans.
const ALL: &str = "LUAPLAN_TEST_KILLS";
const ONE_IN: u64 = 9;

/// A run without a kill.
struct Undisturbed {
    state: RunState,
    writes: u64,
    mails: Vec<String>,
}

/// How a run came out, without what differs from run to run.
type End = (RunStatus, Option<serde_json::Value>, Option<String>, String, Vec<String>);

fn end(state: &RunState) -> End {
    let steps = state.steps.iter().map(|step| format!("{} {} {}", step.name, step.state, step.attempts));
    let (result, code) = (state.result.clone(), state.code.as_ref().map(ToString::to_string));
    (state.status, result, code, state.printed.clone(), steps.collect())
}

async fn state(app: &App, run_id: &RunId) -> Option<RunState> {
    app.journal().run_state(run_id).await.unwrap()
}

/// The parts plans call, and the database the journal is in, where it is not a file.
struct World<'a> {
    parts: &'a DemoParts,
    database: Option<&'a Database>,
}

impl World<'_> {
    fn flags(&self) -> Vec<(String, toml::Value)> {
        let mut flags = self.parts.configuration();
        flags.extend(self.database.map(Database::configuration).unwrap_or_default());
        flags
    }
}

async fn undisturbed(world: &World<'_>, folder: &Path, case: &Case) -> Undisturbed {
    let parts = world.parts;
    let known = parts.received().len();
    let run_id = RunId::generate();
    let job = job(world, folder, case, &run_id, None);
    assert!(job.run().success(), "{}", case.name);
    let app = open(folder, world.flags(), None).await;
    let filter = RecordFilter { run_id: Some(run_id.clone()), ..RecordFilter::default() };
    let writes = app.journal().records(filter).await.unwrap().len() as u64;
    let state = state(&app, &run_id).await.unwrap();
    app.journal().close().await;
    Undisturbed { state, writes, mails: subjects(parts, known) }
}

fn job(world: &World<'_>, folder: &Path, case: &Case, run_id: &RunId, kill: Option<Kill>) -> Job {
    Job {
        folder: folder.to_owned(),
        flags: world.flags(),
        run_id: run_id.to_string(),
        case: case.clone(),
        kill,
        decides: false,
        stops: false,
    }
}

/// How an operator who looks into the mailbox resolves the calls in doubt.
fn look(state: &RunState, arrived: &[String], undisturbed: &RunState) -> Vec<CallResolution> {
    state
        .calls_in_doubt()
        .filter(|call| call.tool == "send_email")
        .map(|call| {
            let subject = call.arguments["subject"].as_str().unwrap();
            let before = undisturbed.calls.iter().find(|other| other.call_id == call.call_id).unwrap();
            let resolved = match arrived.iter().any(|arrived| arrived == subject) {
                true => Resolved::Done { result: before.end.as_ref().unwrap().result.clone().unwrap() },
                false => Resolved::Retry,
            };
            CallResolution { call_id: call.call_id.to_string(), resolved }
        })
        .collect()
}

/// Kills the plan at one place, resumes it and compares. Says whether a person had to look.
async fn survive(world: &World<'_>, case: &Case, kill: Kill, before: &Undisturbed) -> bool {
    let parts = world.parts;
    let place = format!("{} killed {kill:?}", case.name);
    let folder = tempfile::tempdir().unwrap();
    let known = parts.received().len();
    let run_id = RunId::generate();
    let status = job(world, folder.path(), case, &run_id, Some(kill)).run();

    if let Some(database) = world.database {
        database.let_leases_run_out().await;
    }
    let app = open(folder.path(), world.flags(), None).await;
    if status.signal() != Some(9) {
        panic!("{place}: {status}, and its run is {:?}", state(&app, &run_id).await.as_ref().map(end));
    }
    let Some(killed) = state(&app, &run_id).await else {
        assert_eq!(kill, Kill { write: 1, after: false }, "{place}: nothing is on record");
        assert!(subjects(parts, known).is_empty(), "{place}: an effect without a record");
        app.journal().close().await;
        return false;
    };
    if !matches!(killed.status, RunStatus::Running | RunStatus::Sleeping) {
        assert_eq!(end(&killed), end(&before.state), "{place}");
        let refused = app.resume(resume_request(&run_id)).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RunNotResumable, "{place}");
        assert_eq!(subjects(parts, known), before.mails, "{place}");
        app.journal().close().await;
        return false;
    }
    if killed.source.is_none() {
        let refused = app.resume(resume_request(&run_id)).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RunNotResumable, "{place}");
        assert!(killed.calls.is_empty() && subjects(parts, known).is_empty(), "{place}");
        app.journal().close().await;
        return false;
    }
    let mut outcome = app.resume(resume_request(&run_id)).await.unwrap();
    let asked = outcome.status() == RunStatus::Paused;
    if asked {
        assert_eq!(outcome.error().unwrap().code(), ErrorCode::CallInDoubt, "{place}");
        let paused = state(&app, &run_id).await.unwrap();
        assert_eq!(paused.status, RunStatus::Paused, "{place}");
        let mut request = resume_request(&run_id);
        request.resolutions = look(&paused, &subjects(parts, known), &before.state);
        assert!(!request.resolutions.is_empty(), "{place}");
        outcome = app.resume(request).await.unwrap();
    }
    let after = state(&app, &run_id).await.unwrap();
    assert_eq!(end(&after), end(&before.state), "{place}: {outcome:?}");
    assert_eq!(subjects(parts, known), before.mails, "{place}: lost or repeated");
    let usage = |state: &RunState| state.usage.map(|usage| (usage.instructions, usage.tool_calls));
    assert_eq!(usage(&after), usage(&before.state), "{place}");
    assert_eq!(after.calls.len(), before.state.calls.len(), "{place}");
    let verified = app.journal().verify().await.unwrap();
    assert!(verified.ok, "{place}: {verified:?}");
    app.journal().close().await;
    asked
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_killed_at_any_write_goes_on_and_loses_and_repeats_nothing() {
    kill_everywhere(None, ONE_IN).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_journal_is_in_a_database_is_killed_at_any_write_and_goes_on() {
    let Some(database) = Database::new("kills at every write").await else { return };
    kill_everywhere(Some(&database), ONE_IN * 2).await;
}

async fn kill_everywhere(database: Option<&Database>, one_in: u64) {
    #[expect(clippy::disallowed_methods, reason = "a switch of this test, not of the program")]
    let wanted = std::env::var(ALL).ok();
    let is_chosen = |case: &Case| match wanted.as_deref() {
        None | Some("all") => true,
        Some(name) => case.name == name,
    };
    let folder = tempfile::tempdir().unwrap();
    let parts = DemoParts::start(&folder.path().join("parts")).await.unwrap();
    let world = World { parts: &parts, database };
    let (mut plans, mut killed, mut asked) = (0_u64, 0_u64, 0_u64);
    for (number, case) in cases().iter().enumerate().filter(|(_, case)| is_chosen(case)) {
        plans += 1;
        let before = undisturbed(&world, &folder.path().join(&case.name), case).await;
        for write in 1..=before.writes {
            for after in [false, true] {
                let turn = write * 2 + u64::from(after) + number as u64 * 5;
                if wanted.is_none() && !turn.is_multiple_of(one_in) {
                    continue;
                }
                let had_to_ask = survive(&world, case, Kill { write, after }, &before).await;
                killed += 1;
                asked += u64::from(had_to_ask);
            }
        }
    }
    eprintln!("{plans} plans, killed {killed} times; {asked} times a person was asked");
    let is_enough = killed > 10 && (asked > 0 || one_in > ONE_IN);
    assert!(is_enough || plans == 1, "the sample is too small: {killed}, {asked}");
    parts.stop().await;
}
