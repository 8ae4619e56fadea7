//! Questions in whole runs: alone, in a batch, below agents, with a time, replayed.

use std::sync::Arc;

use jiff::SignedDuration;
use luaplan::app::{ActiveRuns, AppParts, ReplayRequest, RunSpec, Work};
use luaplan::base::{Clock as _, ManualClock, SystemClock};
use luaplan::journal::{EventBody, JournalRead as _};
use serde_json::json;

use super::*;
use crate::agents::Agents;
use crate::app_parts::Bench;

async fn ended(app: &App, run_id: &RunId) -> RunStatus {
    for _ in 0..1_500 {
        let state = app.journal().run_state(run_id).await.unwrap().unwrap();
        if state.ended_at.is_some() {
            return state.status;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("run {run_id} did not end");
}

#[tokio::test]
async fn a_question_pauses_the_run_and_its_answer_is_the_result_of_the_call() {
    let bench = Bench::new().await;
    let outcome = bench.run(ASKS).await;
    assert_waits(&outcome);
    let error = outcome.error().unwrap();
    assert!(error.message().contains("Which month?"), "{error}");
    assert!(error.help().contains(&format!("luaplan answer {} 1", outcome.run_id)), "{}", error.help());
    assert_eq!(error.details()["questions"][0]["choices"], json!(["May", "June"]));
    let run_id = outcome.run_id;

    // Resumed without an answer it waits again, and nobody is asked twice.
    assert_waits(&bench.app.resume(resume_request(&run_id)).await.unwrap());
    let state = bench.app.journal().run_state(&run_id).await.unwrap().unwrap();
    assert_eq!((state.questions.len(), state.calls_in_doubt().count()), (1, 0));

    // What is none of the choices is refused with them, and leaves the question open.
    for wrong in ["July", "", "  "] {
        let refused = answer(&bench.app, &run_id, "1", wrong, "ann").await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::BadRequest, "{wrong}");
    }
    let refused = answer(&bench.app, &run_id, "1", "July", "ann").await.unwrap_err();
    assert!(refused.help().contains("May, June"), "{}", refused.help());
    let nobody = answer(&bench.app, &run_id, "2", "May", "ann").await.unwrap_err();
    assert_eq!(nobody.code(), ErrorCode::NotFound);

    let answered = answer(&bench.app, &run_id, "1", " May ", "ann").await.unwrap();
    let given = answered.answer.unwrap();
    assert_eq!((given.answer.as_deref(), given.by.as_deref()), (Some("May"), Some("ann")));
    let late = answer(&bench.app, &run_id, "1", "June", "bob").await.unwrap_err();
    assert_eq!(late.code(), ErrorCode::AnswerStale);
    assert!(late.message().contains("by ann"), "{late}");

    let done = bench.app.resume(resume_request(&run_id)).await.unwrap();
    assert_eq!(done.result.unwrap().to_json(), json!({ "month": "May" }));
    let events = bench.events(&run_id).await;
    assert_eq!(events.iter().filter(|name| **name == "question_asked").count(), 1, "{events:?}");
    let records = bench.records(&run_id).await;
    let finished = records.iter().find_map(|record| match &record.event.body {
        EventBody::ToolCallFinished { result, ok: true, .. } => result.clone(),
        _ => None,
    });
    assert_eq!(finished, Some(json!("May")));
    let over = answer(&bench.app, &run_id, "1", "June", "bob").await.unwrap_err();
    assert_eq!(over.code(), ErrorCode::AnswerStale);

    let request = ReplayRequest { run_id, with: None, cancel: CancellationToken::new() };
    let report = bench.app.runs().replay(request).await.unwrap();
    assert!(report.same, "{report:#?}");
    assert!(bench.app.journal().verify().await.unwrap().ok);
}

#[tokio::test]
async fn the_other_calls_of_a_batch_are_made_once_while_two_people_are_asked() {
    let bench = Bench::new().await;
    let source = r#"function run()
  local got = parallel{
    function() return ask_person("First?") end,
    function() return send_email("admin@company.com", "asked", "x") end,
    function() return ask_person{ question = "Second?", default = "none" } end,
    function() return #query_db{ table = "users" } end,
  }
  return { got[1], got[2].delivered, got[3], got[4] }
end"#;
    let outcome = bench.run(source).await;
    assert_waits(&outcome);
    let run_id = outcome.run_id;
    let open = bench.app.approvals().open_questions(Some(&run_id)).await.unwrap();
    let asked: Vec<_> =
        open.iter().map(|one| (one.asked.call_id.as_str(), one.asked.question.as_str())).collect();
    assert_eq!(asked, [("1.1", "First?"), ("1.3", "Second?")]);
    assert_eq!(bench.parts.received().len(), 1);
    answer(&bench.app, &run_id, "1.3", "two", "ann").await.unwrap();
    let half = bench.app.resume(resume_request(&run_id)).await.unwrap();
    assert_waits(&half);
    answer(&bench.app, &run_id, "1.1", "one", "ann").await.unwrap();
    let done = bench.app.resume(resume_request(&run_id)).await.unwrap();
    let result = done.result.unwrap().to_json();
    assert_eq!((&result[0], &result[1], &result[2]), (&json!("one"), &json!(true), &json!("two")));
    assert_eq!(bench.parts.received().len(), 1, "mailed once");
}

#[tokio::test]
async fn a_question_of_an_agent_pauses_its_caller_and_is_found_from_it() {
    let outer = "function run() local got = call_agent('asker') if got.error then error(got.error) end return got end";
    let agents = Agents::new(
        &[("asker", ASKS, &["ask_person"]), ("outer", outer, &["ask_person", "call_agent"])],
        &[],
    )
    .await;
    let app = &agents.bench.app;
    let source = "function run() local got = call_agent('outer') if got.error then error(got.error) end return got end";
    let outcome = agents.bench.run(source).await;
    assert_waits(&outcome);
    let open = app.approvals().open_questions(Some(&outcome.run_id)).await.unwrap();
    assert_eq!(open.len(), 1);
    let child = open[0].run_id.clone();
    assert_ne!(child, outcome.run_id);
    let help = outcome.error().unwrap().help().to_owned();
    assert!(help.contains(&format!("luaplan answer {child} 1")), "{help}");
    answer(app, &child, "1", "June", "ann").await.unwrap();
    let done = app.resume(resume_request(&outcome.run_id)).await.unwrap();
    assert_eq!(done.result.unwrap().to_json(), json!({ "month": "June" }));
}

#[tokio::test]
async fn a_secret_is_neither_an_answer_nor_a_choice() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("word");
    std::fs::write(&file, "hush-hush-9f3a").unwrap();
    let file = format!("{:?}", file.display().to_string());
    let bench = Bench::with(&[("secrets.word.file", &file)], None).await;
    let outcome = bench.run("function run() return ask_person('What?') end").await;
    let refused = answer(&bench.app, &outcome.run_id, "1", "it is hush-hush-9f3a", "ann").await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::BadRequest);
    let long = "x".repeat(17_000);
    let refused = answer(&bench.app, &outcome.run_id, "1", &long, "ann").await.unwrap_err();
    assert_eq!((refused.code(), refused.limit()), (ErrorCode::BadRequest, Some(&json!(16_384))));
    for arguments in [
        "question = 'What?', choices = { 'hush-hush-' .. '9f3a' }",
        "question = 'What?', choices = { 'a' }, default = 'b'",
        "question = ' '",
    ] {
        let source = format!(
            "function run() local got = ask_person{{ {arguments} }} return got.error and got.code or got end"
        );
        let outcome = bench.run(&source).await;
        assert_eq!(outcome.result.unwrap().to_json(), json!("bad_arguments"), "{arguments}");
    }
}

/// A service with a clock of the test's own: nobody answers, and the time passes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn once_the_time_is_over_the_default_is_the_answer_or_the_call_fails() {
    for (default, expected) in
        [("default = 'June',", json!({ "month": "June" })), ("", json!({ "code": "question_unanswered" }))]
    {
        let clock = Arc::new(ManualClock::new(SystemClock.now()));
        let parts = AppParts { clock: Some(clock.clone()), ..AppParts::default() };
        let service = crate::http_support::Service::of_parts(&[], parts).await;
        let source = format!(
            "function run() local month = ask_person{{ question = 'Which month?', {default} timeout_seconds = 3600 }} \
             if month.error then return {{ code = month.code }} end return {{ month = month }} end"
        );
        let begun = service.client.post("/v1/runs?wait=25s", &json!({ "plan": source })).await.json();
        assert_eq!(begun["status"], "paused", "{begun}");
        let run_id: RunId = begun["run_id"].as_str().unwrap().parse().unwrap();
        assert!(begun["error"]["questions"][0]["answer_by"].is_string(), "{begun}");
        clock.advance(std::time::Duration::from_secs(3_000));
        let waits = service.client.get(&format!("/v1/runs/{run_id}")).await.json();
        assert!(waits["answer_by"].is_string() && waits["paused"]["questions"][0].is_object(), "{waits}");
        clock.advance(std::time::Duration::from_secs(1_000));
        assert_eq!(ended(&service.app, &run_id).await, RunStatus::Succeeded);
        let report = service.client.get(&format!("/v1/runs/{run_id}")).await.json();
        assert_eq!(report["result"], expected);
        let late = answer(&service.app, &run_id, "1", "May", "ann").await.unwrap_err();
        assert_eq!(late.code(), ErrorCode::AnswerStale);
        assert!(late.message().contains("is over"), "{late}");
        let request = ReplayRequest { run_id, with: None, cancel: CancellationToken::new() };
        assert!(service.app.runs().replay(request).await.unwrap().same);
    }
}

/// The timer that was set for the question must not resume a run that paused for something else since.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timer_of_an_answered_question_leaves_a_later_pause_alone() {
    let clock = Arc::new(ManualClock::new(SystemClock.now()));
    let parts = AppParts { clock: Some(clock.clone()), ..AppParts::default() };
    let service = crate::http_support::Service::of_parts(&[], parts).await;
    let source = "function run() local a = ask_person{ question = 'A?', default = 'x', timeout_seconds = 60 } \
                  local b = ask_person('B?') return a .. b end";
    let begun = service.client.post("/v1/runs?wait=25s", &json!({ "plan": source })).await.json();
    let run = begun["run_id"].as_str().unwrap();
    let answered = service.client.post(&format!("/v1/questions/{run}:1"), &json!({ "answer": "a" })).await;
    assert_eq!((answered.status, &answered.json()["run"]), (200, &json!("resumed")), "{}", answered.text);
    crate::http_support::until(async || {
        let open = service.client.get("/v1/questions").await.json();
        (open["questions"][0]["call_id"] == "2").then_some(())
    })
    .await;
    let run_id: RunId = run.parse().unwrap();
    crate::http_support::until(async || {
        let state = service.app.journal().run_state(&run_id).await.unwrap().unwrap();
        (state.status == RunStatus::Paused).then_some(())
    })
    .await;
    let before = service.records(run).await.len();
    clock.advance(std::time::Duration::from_secs(120));
    // A run whose time comes after shows that the timers were looked at.
    let other = service.client.begin("function run() sleep(2) return 1 end").await;
    clock.advance(std::time::Duration::from_secs(5));
    crate::http_support::until(async || {
        clock.advance(std::time::Duration::from_secs(1));
        let other = service.client.get(&format!("/v1/runs/{other}")).await.json();
        (other["status"] == "succeeded").then_some(())
    })
    .await;
    assert_eq!(service.records(run).await.len(), before, "it was not resumed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_who_answer_one_does_and_the_others_are_told_who() {
    let bench = Bench::new().await;
    let run_id = bench.run(ASKS).await.run_id;
    let apps = futures::future::join_all(
        (0..4).map(|_| crate::survival::open(bench.folder(), bench.parts.configuration(), None)),
    )
    .await;
    let answers = futures::future::join_all(apps.iter().enumerate().map(|(number, app)| {
        let (run_id, by) = (run_id.clone(), format!("person{number}"));
        async move { answer(app, &run_id, "1", if number % 2 == 0 { "May" } else { "June" }, &by).await }
    }))
    .await;
    let won: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    let winner = won[0].answer.as_ref().unwrap().by.clone().unwrap();
    for lost in answers.iter().filter_map(|answer| answer.as_ref().err()) {
        assert_eq!(lost.code(), ErrorCode::AnswerStale);
        assert!(lost.message().contains(&winner), "{lost}");
    }
    let events = bench.events(&run_id).await;
    assert_eq!(events.iter().filter(|name| **name == "question_answered").count(), 1);
}

/// An answer that comes while another call of the batch still runs takes the run along.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_before_the_pause_is_not_lost() {
    let gate = crate::http_support::Gate::new().await;
    let service = crate::http_support::Service::beside(&gate, &[]).await;
    let source = format!(
        "function run() local got = parallel{{ function() return ask_person('Go?') end, \
         function() return fetch_url('http://{}/hold') end }} return got[1] .. got[2] end",
        gate.host
    );
    let run = service.client.begin(&source).await;
    gate.asked(1).await;
    let path = format!("/v1/questions/{run}:1.1");
    let answered = crate::http_support::until(async || {
        let answered = service.client.post(&path, &json!({ "answer": "yes" })).await;
        (answered.status == 200).then_some(answered)
    })
    .await;
    assert_eq!(answered.json()["run"], "left", "it goes on by itself");
    gate.open();
    let run_id: RunId = run.parse().unwrap();
    assert_eq!(ended(&service.app, &run_id).await, RunStatus::Succeeded);
    let report = service.client.get(&format!("/v1/runs/{run}")).await.json();
    assert_eq!(report["result"], "yesbody");
}

#[tokio::test]
async fn approvals_come_first_and_the_question_after() {
    let governed = crate::approvals::Governed::new(crate::approvals::POLICY).await;
    let source = "function run() local got = parallel{ function() return ask_person('Go?') end, \
                  function() return send_email('admin@company.com', 's', 'x') end } return got[1] end";
    let run_id = governed.paused(source).await;
    governed.decide(&run_id, luaplan::app::ApprovalAnswer::Once).await;
    assert_waits(&governed.resume(&run_id).await);
    answer(&governed.bench.app, &run_id, "1.1", "yes", "ann").await.unwrap();
    assert_eq!(governed.resume(&run_id).await.result.unwrap().to_json(), "yes");
    assert_eq!(governed.mails(), 1);
}

/// Who is no approver answers nothing; who started the run may.
#[tokio::test]
async fn approvers_answer_and_the_starter_among_them() {
    let policy = crate::approvals::POLICY
        .replace("version = 1", "version = 1\napprovers = [\"ann\"]\napprovers_other_than_starter = true");
    let governed = crate::approvals::Governed::new(&policy).await;
    let app = &governed.bench.app;
    let mut request = governed.bench.request(Work::Plan { name: "plan".to_owned(), source: ASKS.to_owned() });
    request.circumstances.started_by = Some(Actor::named("ann"));
    let outcome = app.run(RunSpec { ..request }).await;
    assert_waits(&outcome);
    let refused = answer(app, &outcome.run_id, "1", "May", "bob").await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Forbidden);
    answer(app, &outcome.run_id, "1", "May", "ann").await.unwrap();
}

#[tokio::test]
async fn a_run_that_cannot_go_on_with_an_answer_ends_instead_of_waiting() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("word");
    std::fs::write(&file, "hush-hush-9f3a").unwrap();
    let file = format!("{:?}", file.display().to_string());
    let bench = Bench::with(&[("secrets.word.file", &file)], None).await;
    let context = luaplan::base::Value::from_iter([("note", "hush-hush-9f3a")]);
    let outcome = bench.run_with(ASKS, Some(context), bench.limits()).await;
    assert_eq!(outcome.error().unwrap().code(), ErrorCode::RunNotResumable);
    assert!(bench.app.approvals().open_questions(None).await.unwrap().is_empty());
}

/// A service that starts wakes a question whose time is over, as it wakes a sleeper.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_service_that_starts_takes_up_a_question_whose_time_is_over() {
    let clock = Arc::new(ManualClock::new(SystemClock.now()));
    let bench = Bench::new().await;
    let environment = crate::app_parts::environment(bench.folder());
    let options = luaplan::app::config::LoadOptions { file: None, flags: bench.parts.configuration() };
    let loaded = luaplan::app::config::load(&environment, &options).unwrap();
    let open = async || {
        let parts = AppParts { clock: Some(clock.clone()), ..AppParts::default() };
        Arc::new(App::open_with(&loaded, &environment, parts).await.unwrap())
    };
    let source = ASKS.replace("choices =", "default = \"June\", timeout_seconds = 60, choices =");
    let first = open().await;
    let work = Work::Plan { name: "plan".to_owned(), source };
    let outcome = first.runs().run_to_rest(RunSpec::new(work, bench.limits())).await;
    assert_waits(&outcome);
    assert!(outcome.answer_by().is_some_and(|at| at > clock.now() + SignedDuration::from_secs(59)));
    drop(first);
    clock.advance(std::time::Duration::from_secs(61));
    let second = open().await;
    let runs = Arc::new(ActiveRuns::new(second.clone()));
    assert_eq!(runs.wake_recorded().await.unwrap(), 1);
    assert_eq!(ended(&second, &outcome.run_id).await, RunStatus::Succeeded);
    let state = second.journal().run_state(&outcome.run_id).await.unwrap().unwrap();
    assert_eq!(state.result, Some(json!({ "month": "June" })));
}
