//! Runs that sleep: they hold nothing, wake by themselves, and survive the process.

use std::sync::Arc;
use std::time::Duration;

use luaplan::app::{ActiveRuns, CallResolution, ReplayRequest, ResumeRequest, RunSpec, Work};
use luaplan::base::{ErrorCode, RunId, Value};
use luaplan::demo::DemoParts;
use luaplan::http::Server;
use luaplan::journal::{EventBody, JournalRead as _, Resolved, RunFilter, RunState, RunStatus};
use luaplan::plan::preview::Texts;
use tokio_util::sync::CancellationToken;

use super::{open, resume, resume_request};
use crate::app_parts::Bench;

/// Mails, sleeps for as long as the context says, mails again.
const SLEEPER: &str = r#"function run(context)
  local before = send_email("admin@company.com", "before", "x")
  if before.error then return before.error end
  sleep(context.seconds)
  local after = send_email("admin@company.com", "after", "x")
  return after.error or "awake"
end"#;

fn work(source: &str) -> Work {
    Work::Plan { name: "plan".to_owned(), source: source.to_owned() }
}

fn seconds(seconds: f64) -> Option<Value> {
    Some(Value::from_iter([("seconds", Value::Float(seconds))]))
}

async fn state(app: &luaplan::app::App, run_id: &RunId) -> RunState {
    app.journal().run_state(run_id).await.unwrap().unwrap()
}

async fn wait_for(app: &luaplan::app::App, run_id: &RunId, wanted: RunStatus) {
    for _ in 0..1_500 {
        if app.journal().run_state(run_id).await.unwrap().is_some_and(|state| state.status == wanted) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("run {run_id} did not become {wanted}");
}

#[tokio::test]
async fn a_long_sleep_puts_the_run_to_rest_and_it_goes_on_from_the_recorded_time() {
    let bench = Bench::new().await;
    let request = RunSpec { context: seconds(3600.0), ..bench.request(work(SLEEPER)) };
    let run_id = request.run_id.clone();
    let outcome = bench.app.runs().run_to_rest(request).await;
    let wake_at = outcome.wake_at().unwrap();
    assert_eq!(
        (outcome.status(), outcome.error().unwrap().code()),
        (RunStatus::Sleeping, ErrorCode::RunSleeping)
    );
    let asleep = state(&bench.app, &run_id).await;
    assert_eq!((asleep.status, asleep.wake_at), (RunStatus::Sleeping, Some(wake_at)));
    assert_eq!(bench.parts.received().len(), 1);

    // Taken up before its time it sleeps again, until the same instant, and repeats nothing.
    let again = bench.app.runs().resume_to_rest(resume_request(&run_id)).await.unwrap();
    assert_eq!(again.wake_at(), Some(wake_at));
    let begun = bench.events(&run_id).await;
    assert_eq!(begun.iter().filter(|name| **name == "sleep_begun").count(), 1);
    assert_eq!(bench.parts.received().len(), 1);

    // A sleep is no call in doubt: no operator can resolve it.
    let nap = state(&bench.app, &run_id).await.calls[1].call_id.clone();
    let resolved = Resolved::Done { result: serde_json::Value::Null };
    let said = CallResolution { call_id: nap.as_str().to_owned(), resolved };
    let request = ResumeRequest { resolutions: vec![said], ..resume_request(&run_id) };
    let refused = bench.app.runs().resume_to_rest(request).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::BadRequest);
    assert!(refused.message().contains("`sleep` is not in doubt: it waits"), "{refused}");
    assert!(refused.help().contains("it sleeps until its time"), "{}", refused.help());
    assert!(!bench.events(&run_id).await.contains(&"call_resolved"));
    assert_eq!(state(&bench.app, &run_id).await.status, RunStatus::Sleeping);

    let filter = RunFilter { status: Some(RunStatus::Sleeping), ..RunFilter::default() };
    let listed = bench.app.journal().runs(filter).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!((&listed[0].run_id, listed[0].wake_at), (&run_id, Some(wake_at)));

    let request = ReplayRequest { run_id: run_id.clone(), with: None, cancel: CancellationToken::new() };
    let report = bench.app.runs().replay(request).await.unwrap();
    assert!(report.same && report.recorded.is_null(), "{report:#?}");
}

#[tokio::test]
async fn sleeps_below_and_above_the_threshold_come_to_the_same_and_replay_without_waiting() {
    let bench = Bench::new().await;
    for length in [0.0, 0.05, 1.2] {
        let request = RunSpec { context: seconds(length), ..bench.request(work(SLEEPER)) };
        let run_id = request.run_id.clone();
        let outcome = bench.app.run(request).await;
        assert_eq!(outcome.result.unwrap().to_json(), "awake", "{length}");
        let events = bench.events(&run_id).await;
        assert_eq!(events.contains(&"run_sleeping"), length > 1.0, "{length}: {events:?}");
        let request = ReplayRequest { run_id, with: None, cancel: CancellationToken::new() };
        let report = bench.app.runs().replay(request).await.unwrap();
        assert!(report.same, "{length}: {report:#?}");
    }
}

#[tokio::test]
async fn a_plan_sees_the_recorded_start_of_its_run_also_when_it_goes_on_later() {
    let bench = Bench::new().await;
    let source = r#"function run(context)
      local before = date.now()
      sleep(context.seconds)
      return {before = before, after = date.now(), day = date.today()}
    end"#;
    let request = RunSpec { context: seconds(1.2), ..bench.request(work(source)) };
    let run_id = request.run_id.clone();
    let outcome = bench.app.run(request).await;
    assert!(bench.events(&run_id).await.contains(&"run_sleeping"));
    let started_at = state(&bench.app, &run_id).await.started_at;
    let said = outcome.result.unwrap().to_json();
    let expected = started_at.strftime("%FT%TZ").to_string();
    assert_eq!((&said["before"], &said["after"]), (&expected.as_str().into(), &expected.as_str().into()));
    assert_eq!(said["day"], started_at.strftime("%F").to_string());
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    let request = ReplayRequest { run_id, with: None, cancel: CancellationToken::new() };
    let report = bench.app.runs().replay(request).await.unwrap();
    assert!(report.same, "{report:#?}");
}

#[tokio::test]
async fn what_is_slept_is_no_wall_time() {
    sleeps_beyond_its_wall_time().await;
}

/// On several threads steps are taken in place, and another task keeps the time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_slept_is_no_wall_time_where_steps_are_taken_in_place() {
    sleeps_beyond_its_wall_time().await;
}

async fn sleeps_beyond_its_wall_time() {
    let bench = Bench::new().await;
    let mut limits = bench.limits();
    limits.wall = Duration::from_secs(2);
    let source = "function run() for _ = 1, 5 do sleep(0.5) end sleep(1.1) return 'done' end";
    let outcome = bench.run_with(source, None, limits.clone()).await;
    assert_eq!(outcome.result.unwrap().to_json(), "done");
    // What is waited for otherwise is.
    let source = "function run() retry(5, function() error('again') end) end";
    let outcome = bench.run_with(source, None, limits).await;
    assert_eq!(outcome.error().unwrap().code(), ErrorCode::LimitWallTime);
}

#[tokio::test]
async fn a_sleep_too_long_or_without_a_time_is_refused_and_not_begun() {
    let bench =
        Bench::with(&[("tools.sleep.longest", "\"1h\""), ("tools.wait_until.longest", "\"1h\"")], None).await;
    let source = r#"function run(context)
  local codes = {}
  for _, failed in ipairs{ sleep(context.long), sleep(context.negative), wait_until("2999-01-01T00:00:00Z"), wait_until("tomorrow") } do
    codes[#codes + 1] = failed.code
  end
  return { codes = codes, past = wait_until("2001-01-01T00:00:00Z").woke_at }
end"#;
    let context = Value::from_iter([("long", Value::Integer(3601)), ("negative", Value::Float(-0.5))]);
    let outcome = bench.run_with(source, Some(context), bench.limits()).await;
    let result = outcome.result.unwrap().to_json();
    assert_eq!(
        result["codes"],
        serde_json::json!(["bad_arguments", "bad_arguments", "bad_arguments", "bad_arguments"])
    );
    assert_eq!(result["past"], "2001-01-01T00:00:00Z");
    // What a plan says outright is found before it runs.
    let refused = bench.run("function run() sleep(3601) end").await;
    assert_eq!(refused.error().unwrap().code(), ErrorCode::CheckRefused);
}

#[tokio::test]
async fn a_sleeping_run_can_be_cancelled_and_then_goes_on_no_more() {
    let bench = Bench::new().await;
    let request = RunSpec { context: seconds(3600.0), ..bench.request(work(SLEEPER)) };
    let (run_id, cancel) = (request.run_id.clone(), request.cancel.clone());
    let (outcome, ()) = tokio::join!(bench.app.run(request), async {
        wait_for(&bench.app, &run_id, RunStatus::Sleeping).await;
        cancel.cancel();
    });
    assert_eq!(outcome.status(), RunStatus::Cancelled);
    assert_eq!(state(&bench.app, &run_id).await.status, RunStatus::Cancelled);
    let refused = resume(&bench.app, &run_id).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::RunNotResumable);
    assert_eq!(bench.parts.received().len(), 1);

    // Over an edge that lists runs: it holds no place while it sleeps.
    let app = Arc::new(open(bench.folder(), bench.parts.configuration(), None).await);
    let runs = Arc::new(ActiveRuns::new(app.clone()));
    let request = RunSpec { context: seconds(3600.0), ..bench.request(work(SLEEPER)) };
    let run_id = request.run_id.clone();
    let mut run = runs.start(request).await.unwrap().unwrap();
    run.outcome.wait_for(Option::is_some).await.unwrap();
    wait_for(&app, &run_id, RunStatus::Sleeping).await;
    while runs.registry().active(&run_id).is_some() {
        tokio::task::yield_now().await;
    }
    runs.cancel(&run_id, None).await.unwrap();
    assert_eq!(state(&app, &run_id).await.status, RunStatus::Cancelled);
    assert_eq!(runs.cancel(&run_id, None).await.unwrap_err().code(), ErrorCode::RunNotActive);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_wakes_what_it_put_to_sleep_and_what_it_finds_asleep() {
    let folder = tempfile::tempdir().unwrap();
    let parts = DemoParts::start(&folder.path().join("parts")).await.unwrap();
    let mut flags = parts.configuration();
    flags.push(("server.listen".to_owned(), "127.0.0.1:0".into()));

    // Left asleep by a process that is gone.
    let left = {
        let app = open(folder.path(), flags.clone(), None).await;
        let limits = app.config().limits.clone();
        let request = RunSpec { context: seconds(1.5), ..RunSpec::new(work(SLEEPER), limits) };
        let outcome = app.runs().run_to_rest(request).await;
        assert_eq!(outcome.status(), RunStatus::Sleeping);
        app.journal().close().await;
        outcome.run_id
    };
    let app = Arc::new(open(folder.path(), flags, None).await);
    let server = Server::bind(app.clone()).await.unwrap();
    let runs = server.runs().clone();
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let serving = tokio::spawn(server.run(move || {
        let mut stopped = stopped.clone();
        async move {
            // A dropped sender is a stop as well.
            let _ = stopped.wait_for(|stop| *stop).await;
            "SIGTERM"
        }
    }));
    let request =
        RunSpec { context: seconds(1.2), ..RunSpec::new(work(SLEEPER), app.config().limits.clone()) };
    let own = request.run_id.clone();
    runs.start(request).await.unwrap();
    wait_for(&app, &left, RunStatus::Succeeded).await;
    wait_for(&app, &own, RunStatus::Succeeded).await;
    assert_eq!(parts.received().len(), 4);
    for run_id in [&left, &own] {
        let state = state(&app, run_id).await;
        let slept = state.calls.iter().find_map(|call| Some((call.wake_at?, call.end.as_ref()?.at))).unwrap();
        assert!(slept.1 >= slept.0, "it woke too early: {slept:?}");
    }
    stop.send(true).unwrap();
    serving.await.unwrap();
    parts.stop().await;
}

#[tokio::test]
async fn sleeps_work_wherever_calls_do_and_the_longest_of_a_batch_counts() {
    let bench = Bench::new().await;
    let source = r#"function run(context)
  local co = coroutine.wrap(function() return sleep(0).woke_at end)
  local in_coroutine = co()
  local in_pcall = select(2, pcall(function() return sleep(0).woke_at end))
  local both = parallel{
    function() return sleep(0.01) end,
    function() return sleep(7200) end,
    function() return query_db{ table = "users", limit = 1 } end,
  }
  return #both[3]
end"#;
    let request = bench.request(work(source));
    let run_id = request.run_id.clone();
    let outcome = bench.app.runs().run_to_rest(request).await;
    assert_eq!(outcome.status(), RunStatus::Sleeping, "{outcome:?}");
    let records = bench.records(&run_id).await;
    let begun: Vec<_> = records
        .iter()
        .filter_map(|record| match &record.event.body {
            EventBody::SleepBegun { wake_at, .. } => Some(*wake_at),
            _ => None,
        })
        .collect();
    assert_eq!(begun.len(), 4);
    assert_eq!(state(&bench.app, &run_id).await.wake_at, begun.iter().max().copied());
    let calls = state(&bench.app, &run_id).await.calls;
    assert!(calls.iter().any(|call| call.tool == "query_db" && call.end.is_some()), "the others went on");
}

/// `luaplan` in `folder`, not waited for.
fn started(folder: &std::path::Path, arguments: &[&str]) -> std::process::Child {
    std::process::Command::new(env!("CARGO_BIN_EXE_luaplan"))
        .args(arguments)
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap()
}

fn ended(child: std::process::Child) -> (i32, String, String) {
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap_or(-1), text(output.stdout), text(output.stderr))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_that_is_ended_leaves_its_run_asleep_for_resume() {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    for signal in [Signal::SIGINT, Signal::SIGKILL] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.lua"), "function run() sleep(8) return 'awake' end").unwrap();
        let command = started(folder.path(), &["run", "plan.lua"]);
        let mut listed = String::new();
        for _ in 0..600 {
            listed = ended(started(folder.path(), &["runs", "--status", "sleeping", "--json"])).1;
            if listed.contains("wake_at") {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert!(listed.contains("wake_at"), "{listed}");
        kill(Pid::from_raw(i32::try_from(command.id()).unwrap()), signal).unwrap();
        let (code, _, err) = ended(command);
        if signal == Signal::SIGINT {
            assert_eq!(code, 5, "{err}");
            assert!(err.contains("luaplan resume"), "{err}");
        }
        let (code, out, err) = ended(started(folder.path(), &["resume", "last", "--json"]));
        assert_eq!(code, 0, "{err}");
        let outcome: serde_json::Value = serde_json::from_str(&out).unwrap();
        assert_eq!(outcome["result"], "awake", "{outcome}");
        let shown = ended(started(folder.path(), &["show", "last"])).1;
        let until = shown.lines().filter_map(|line| line.split_once("asleep until ")).map(|(_, until)| until);
        assert_eq!(until.collect::<std::collections::BTreeSet<_>>().len(), 1, "{shown}");
    }
}

#[tokio::test]
async fn under_mocks_time_is_made_up_and_nothing_is_waited_for() {
    let bench = Bench::new().await;
    let mocks =
        luaplan::testkit::MockTools::from_json(serde_json::json!([]), bench.app.tools().catalog()).unwrap();
    let source = r#"function run(context)
  local first = sleep(3600).woke_at
  local both = parallel{
    function() return sleep(60) end,
    function() return sleep(7200) end,
  }
  wait_until("2026-01-01T13:00:00+01:00")
  return { first, both[1].woke_at, both[2].woke_at, sleep(0).woke_at, wait_until("2025-01-01T00:00:00Z").woke_at }
end"#;
    let request = RunSpec { handler: Some(mocks.handler()), ..bench.request(work(source)) };
    let result = bench.app.run(request).await.result.unwrap().to_json();
    let expected = serde_json::json!([
        "2026-01-01T01:00:00Z",
        "2026-01-01T01:01:00Z",
        "2026-01-01T03:00:00Z",
        "2026-01-01T12:00:00Z",
        "2025-01-01T00:00:00Z",
    ]);
    assert_eq!(result, expected);
}

#[tokio::test]
async fn explain_says_for_how_long_a_plan_may_sleep_at_most() {
    let bench = Bench::with(&[("tools.sleep.longest", "\"1h\"")], None).await;
    let limits = bench.limits();
    let sleeps = |source: &str| {
        let preview = bench.app.plans().explain(source, "plan", &limits, None).preview.unwrap();
        (preview.sleeps_max_seconds, preview.page(Texts::Short))
    };
    let (seconds, page) = sleeps("function run() for _ = 1, 3 do sleep(600) end sleep(0.5) end");
    assert_eq!(seconds, Some(1801));
    assert!(page.contains("waits up to 30 min 1 s"), "{page}");
    assert_eq!(sleeps("function run(context) sleep(context.seconds) end").0, Some(3600));
    let without_bound = sleeps("function run(context) while context.go do sleep(60) end end").0;
    assert_eq!(without_bound, Some(60 * limits.tool_calls));
    assert_eq!(sleeps("function run() return query_db{ table = 'users' } end").0, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn both_engines_sleep_in_worker_processes_too() {
    for engine in ["mlua", "piccolo"] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("plan.lua"), "function run() sleep(1.2) return 'awake' end")
            .unwrap();
        let arguments = ["run", "plan.lua", "--engine", engine, "--isolation", "process", "--events"];
        let (code, out, err) = ended(started(folder.path(), &arguments));
        assert_eq!(code, 0, "{engine}: {err}");
        assert!(out.contains("run_sleeping") && out.contains("\"result\":\"awake\""), "{engine}: {out}");
    }
}
