//! Runs that a caller cancels, pauses or resets, from the process that runs them and from others.

use std::process::Stdio;
use std::time::Duration;

use luaplan::app::Work;
use luaplan::base::{ErrorCode, RunId};
use luaplan::journal::{JournalRead as _, RunState, RunStatus};
use serde_json::json;

use super::accepted::service as slow_service;
use super::{resume, resume_request};
use crate::agents::Agents;
use crate::app_parts::Bench;
use crate::cli::Folder;
use crate::http_support::{Gate, Service, until};

const COUNTS: &str = "function run() local n = 0 while n < 100000000000 do n = n + 1 end return n end";

const MAILS: &str = r#"function run(context)
  local sent = send_email("admin@company.com", "hello", "x")
  return sent.error or "sent"
end"#;

fn work(source: &str) -> Work {
    Work::Plan { name: "plan".to_owned(), source: source.to_owned() }
}

async fn state(bench: &Bench, run_id: &RunId) -> RunState {
    bench.app.journal().run_state(run_id).await.unwrap().unwrap()
}

/// A service whose pages wait, with limits a counting plan does not reach soon.
async fn service(gate: &Gate) -> Service {
    let hosts = format!("[{:?}]", gate.host);
    let settings = [
        ("tools.fetch_url.allow_hosts", hosts.as_str()),
        ("limits.profile", "\"generous\""),
        ("limits.instructions", "1000000000000"),
        ("limits.wall", "\"10m\""),
    ];
    Service::with(&settings, None).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pause_lets_the_call_under_way_end_and_the_run_goes_on_behind_it() {
    let gate = Gate::new().await;
    let service = service(&gate).await;
    let client = &service.client;
    let run_id = client.begin(&gate.plan("/hold")).await;
    gate.asked(1).await;
    let asked = client.post(&format!("/v1/runs/{run_id}/pause"), &json!({})).await;
    assert_eq!((asked.status, &asked.json()["status"]), (202, &json!("pausing")), "{}", asked.text);
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert_eq!(client.get(&format!("/v1/runs/{run_id}")).await.json()["status"], "running");
    gate.open();
    let paused = client.until_ended(&run_id).await;
    assert_eq!(paused["status"], "paused");
    assert_eq!(paused["paused"]["calls_in_doubt"], json!([]));
    assert!(paused["paused"]["reason"].as_str().unwrap().contains("asked the run to pause"), "{paused}");
    client.post(&format!("/v1/runs/{run_id}/pause"), &json!({})).await.problem(409, "run_not_active");

    let resumed = client.post(&format!("/v1/runs/{run_id}/resume?wait=25s"), &json!({})).await;
    assert_eq!((resumed.status, &resumed.json()["status"]), (200, &json!("succeeded")), "{}", resumed.text);
    gate.asked(1).await;
    assert_eq!(gate.count(), 1, "the call was not made again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_plan_that_only_computes_pauses_too_and_a_paused_run_can_be_cancelled() {
    let endless = [("limits.instructions", "1000000000000"), ("limits.wall", "\"10m\"")];
    let bench = Bench::with(&endless, None).await;
    let request = bench.request(work(COUNTS));
    let run_id = request.run_id.clone();
    let (app, id) = (bench.app.clone(), run_id.clone());
    let asks = async move {
        while app.runs().pause(&id, None).await.is_err() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (outcome, ()) = tokio::join!(bench.app.run(request), asks);
    let error = outcome.error().unwrap();
    assert_eq!((outcome.status(), error.code()), (RunStatus::Paused, ErrorCode::PauseRequested), "{error}");
    assert_eq!(state(&bench, &run_id).await.status, RunStatus::Paused);
    bench.app.runs().cancel(&run_id, None).await.unwrap();
    assert_eq!(state(&bench, &run_id).await.status, RunStatus::Cancelled);
    let late = bench.app.runs().cancel(&run_id, None).await.unwrap_err();
    assert_eq!(late.code(), ErrorCode::RunNotActive, "{late}");
    assert_eq!(resume(&bench.app, &run_id).await.unwrap_err().code(), ErrorCode::RunNotResumable);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_pauses_with_the_agent_it_called_and_both_go_on() {
    let gate = Gate::new().await;
    let page = gate.plan("/hold");
    let hosts = format!("[{:?}]", gate.host);
    let agents = Agents::new(
        &[("fetcher", page.as_str(), &["fetch_url"])],
        &[("tools.fetch_url.allow_hosts", hosts.as_str())],
    )
    .await;
    let bench = &agents.bench;
    let request = bench.request(work("function run() return call_agent('fetcher', {}) end"));
    let run_id = request.run_id.clone();
    let asks = async {
        gate.asked(1).await;
        bench.app.runs().pause(&run_id, None).await.unwrap();
        gate.open();
    };
    let (outcome, ()) = tokio::join!(bench.app.run(request), asks);
    assert_eq!(outcome.error().unwrap().code(), ErrorCode::PauseRequested, "{outcome:?}");
    let child = run_id.of_call(&state(bench, &run_id).await.calls[0].call_id);
    assert_eq!(state(bench, &child).await.status, RunStatus::Paused);
    let done = bench.app.resume(resume_request(&run_id)).await.unwrap();
    assert_eq!(done.status(), RunStatus::Succeeded, "{done:?}");
    assert_eq!(gate.count(), 1);
}

#[test]
fn the_command_line_pauses_and_cancels_runs_of_another_process() {
    let ways = [
        ("in-process", "pause", "paused", 5),
        ("process", "pause", "paused", 5),
        ("process", "cancel", "cancelled", 130),
    ];
    for (isolation, command, status, code) in ways {
        let folder = Folder::with(&[("long.lua", COUNTS)]);
        let limits =
            ["--limit", "instructions=1000000000000", "--limit", "wall=60s", "--isolation", isolation];
        let mut runs = folder.command(&[&["run", "long.lua"][..], &limits].concat());
        let mut runs = runs.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Before it has started there is no run to name.
        let asked = loop {
            let asked = folder.run(&[command, "last", "--json"]);
            if asked.code == 0 || runs.try_wait().unwrap().is_some() {
                break asked;
            }
        };
        assert_eq!(asked.json()["status"], status, "{asked}");
        assert_eq!(runs.wait().unwrap().code(), Some(code), "{command}");
        let left = std::fs::read_dir(folder.join(".luaplan/owners/asks")).unwrap().count();
        assert_eq!(left, 0, "what was asked is taken away");
    }
}

#[test]
fn a_run_asleep_at_the_command_line_ends_there_when_another_cancels_it() {
    let folder = Folder::with(&[("sleeper.lua", "function run() sleep(3600) end")]);
    let mut sleeps = folder.command(&["run", "sleeper.lua"]);
    let mut sleeps = sleeps.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let asleep = || folder.run(&["runs", "--status", "sleeping", "--json"]).out.contains("run_id");
    while !asleep() {
        assert!(sleeps.try_wait().unwrap().is_none());
    }
    let refused = folder.run(&["pause", "last"]).fails(2, "run_not_active");
    assert!(refused.err.contains("sleeping"), "{refused}");
    folder.run(&["cancel", "last"]).exits(0);
    assert_eq!(sleeps.wait().unwrap().code(), Some(130));
}

#[test]
fn the_command_line_starts_runs_over() {
    let folder = Folder::with(&[("plan.lua", "function run(context) print('again') return context.n end")]);
    let first = folder.run(&["run", "plan.lua", "--context", "{\"n\": 7}", "--json"]).exits(0).json();
    let again = folder.run(&["reset", "last", "--json"]).exits(0).json();
    assert_eq!((&again["result"], &again["printed"]), (&json!(7), &json!("again\n")));
    assert_ne!(again["run_id"], first["run_id"]);
    let shown = folder.run(&["show", "last"]).exits(0).out;
    assert!(shown.contains(&format!("starts over run {}", first["run_id"].as_str().unwrap())), "{shown}");
    folder.run(&["cancel", "last"]).fails(2, "run_not_active");
    folder.run(&["cancel", first["run_id"].as_str().unwrap()]).fails(2, "run_not_active");
    folder.run(&["pause", &RunId::generate().to_string()]).fails(2, "not_found");
}

#[tokio::test]
async fn what_was_asked_of_a_run_that_came_to_rest_by_itself_is_not_heeded_later() {
    let bench = Bench::new().await;
    let asleep = bench.app.runs().run_to_rest(bench.request(work("function run() sleep(3600) end"))).await;
    let run_id = asleep.run_id;
    let asks = bench.folder().join(".luaplan/owners/asks");
    std::fs::create_dir_all(&asks).unwrap();
    for ask in ["pause", "cancel"] {
        std::fs::write(asks.join(format!("{run_id}.{ask}")), "").unwrap();
    }
    let woken = bench.app.runs().resume_to_rest(resume_request(&run_id)).await.unwrap();
    assert_eq!(woken.status(), RunStatus::Sleeping, "{woken:?}");
    assert_eq!(std::fs::read_dir(&asks).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_whose_process_is_gone_is_cancelled_where_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let parts = luaplan::demo::DemoParts::start(&folder.path().join("parts")).await.unwrap();
    let run_id = super::resume::in_doubt(&parts, folder.path()).await;
    let app = super::open(folder.path(), parts.configuration(), None).await;
    let stands = app.runs().pause(&run_id, None).await.unwrap_err();
    assert_eq!(stands.code(), ErrorCode::RunNotActive);
    assert!(stands.help().contains("luaplan resume"), "{stands:?}");
    app.runs().cancel(&run_id, None).await.unwrap();
    let state = app.journal().run_state(&run_id).await.unwrap().unwrap();
    assert_eq!(state.status, RunStatus::Cancelled);
}

#[tokio::test]
async fn starting_over_is_another_run_that_names_the_first_and_repeats_effects_only_when_told() {
    let bench = Bench::new().await;
    let first = bench.run(MAILS).await;
    assert_eq!(bench.parts.received().len(), 1);
    let refused = bench.app.runs().start_over(&first.run_id, false).await.map(drop).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::EffectsRepeat);
    assert_eq!(refused.details()["calls"], json!([{ "call_id": "1", "tool": "send_email" }]));
    assert_eq!(bench.parts.received().len(), 1);

    let request = bench.app.runs().start_over(&first.run_id, true).await.unwrap();
    let second = bench.app.run(request).await;
    assert_ne!(second.run_id, first.run_id);
    assert_eq!(second.result.unwrap().to_json(), json!("sent"));
    assert_eq!(bench.parts.received().len(), 2);
    assert_eq!(state(&bench, &second.run_id).await.starts_over, Some(first.run_id.clone()));
    // The first is as it was.
    assert_eq!(state(&bench, &first.run_id).await.status, RunStatus::Succeeded);
}

/// Each journal write is slow, so that what is asked comes in the midst of the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_asked_while_a_run_comes_to_rest_is_heeded() {
    for (ask, wait_ms) in [("cancel", 0), ("cancel", 40), ("cancel", 120), ("pause", 0)] {
        let service = slow_service().await;
        let client = &service.client;
        let run_id = client.begin("function run() sleep(3600) return 'woken' end").await;
        // The sleep is on record, and the end of this stretch is being written.
        until(async || {
            let run = service.app.journal().run_state(&run_id.parse().unwrap()).await.unwrap()?;
            (!run.calls.is_empty()).then_some(())
        })
        .await;
        tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        let asked = client.post(&format!("/v1/runs/{run_id}/{ask}"), &json!({})).await;
        assert_eq!(asked.status, 202, "{}", asked.text);
        let wanted = if ask == "cancel" { "cancelled" } else { "paused" };
        until(async || {
            let run = client.get(&format!("/v1/runs/{run_id}")).await.json();
            (run["status"] == wanted).then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_printed_is_lost_by_a_pause_in_the_midst_of_a_computation() {
    let plan = r#"function run()
  print("one")
  local n = 0
  while n < 3000000 do n = n + 1 end
  print("two")
  if transform_data({ x = 1 }, "{{ x }}", "text") ~= "1" then error("not made") end
  print("three")
  return n
end"#;
    let bench =
        Bench::with(&[("limits.instructions", "1000000000000"), ("limits.wall", "\"10m\"")], None).await;
    let request = bench.request(work(plan));
    let run_id = request.run_id.clone();
    let (app, id) = (bench.app.clone(), run_id.clone());
    let asks = async move {
        // Let it print first.
        tokio::time::sleep(Duration::from_millis(20)).await;
        while app.runs().pause(&id, None).await.is_err() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let (paused, ()) = tokio::join!(bench.app.run(request), asks);
    assert_eq!(paused.status(), RunStatus::Paused, "{paused:?}");
    let done = resume(&bench.app, &run_id).await.unwrap();
    assert_eq!(done.status(), RunStatus::Succeeded, "{done:?}");
    assert_eq!(state(&bench, &run_id).await.printed, "one\ntwo\nthree\n");
}

#[tokio::test]
async fn starting_over_ends_a_run_that_is_not_over_and_needs_no_leave_for_reads() {
    let bench = Bench::new().await;
    let plan = "function run(context) sleep(context.seconds or 0.01) return 'awake' end";
    let context = luaplan::base::Value::from_iter([("seconds", luaplan::base::Value::Integer(3600))]);
    let request = luaplan::app::RunSpec { context: Some(context), ..bench.request(work(plan)) };
    let asleep = bench.app.runs().run_to_rest(request).await;
    assert_eq!(asleep.status(), RunStatus::Sleeping);
    let request = bench.app.runs().start_over(&asleep.run_id, false).await.unwrap();
    assert_eq!(state(&bench, &asleep.run_id).await.status, RunStatus::Sleeping, "until the other begins");
    bench.app.runs().cancel_unless_over(&asleep.run_id, None).await.unwrap();
    assert_eq!(state(&bench, &asleep.run_id).await.status, RunStatus::Cancelled);
    let again = bench.app.runs().run_to_rest(request).await;
    assert_eq!(again.status(), RunStatus::Sleeping, "with the context of the first");
    let mocked = luaplan::testkit::MockTools::default_mocks(bench.app.tools().catalog()).handler();
    let request =
        luaplan::app::RunSpec { handler: Some(mocked), ..bench.request(work("function run() return 1 end")) };
    let mocked = bench.app.run(request).await;
    let refused = bench.app.runs().start_over(&mocked.run_id, false).await.map(drop).unwrap_err();
    assert_eq!(refused.code(), ErrorCode::RunNotResumable);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_started_over_over_http() {
    let gate = Gate::new().await;
    let service = service(&gate).await;
    let client = &service.client;
    let held = client.begin(&gate.plan("/hold")).await;
    gate.asked(1).await;
    client.post(&format!("/v1/runs/{held}/reset"), &json!({})).await.problem(409, "run_active");
    gate.open();
    client.until_ended(&held).await;
    let again = client.post(&format!("/v1/runs/{held}/reset?wait=25s"), &json!({})).await;
    let outcome = again.json();
    assert_eq!((again.status, &outcome["status"]), (200, &json!("succeeded")), "{}", again.text);
    assert_eq!(gate.count(), 2);
    let run = client.get(&format!("/v1/runs/{}", outcome["run_id"].as_str().unwrap())).await.json();
    assert_eq!(run["starts_over"], json!(held));
    client.post(&format!("/v1/runs/{held}/reset"), &json!({ "x": 1 })).await.problem(400, "bad_request");
    // A run asleep in the service is ended once the other has started.
    let asleep = client.begin("function run() sleep(3600) end").await;
    until(async || {
        let run = client.get(&format!("/v1/runs/{asleep}")).await.json();
        (run["status"] == "sleeping").then_some(())
    })
    .await;
    assert_eq!(client.post(&format!("/v1/runs/{asleep}/reset"), &json!({})).await.status, 202);
    assert_eq!(client.get(&format!("/v1/runs/{asleep}")).await.json()["status"], "cancelled");
    let unknown = RunId::generate();
    client.post(&format!("/v1/runs/{unknown}/reset"), &json!({})).await.problem(404, "not_found");
    client.post(&format!("/v1/runs/{unknown}/pause"), &json!({})).await.problem(404, "not_found");
}
