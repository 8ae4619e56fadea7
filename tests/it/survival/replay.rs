//! Replay: the same again, from the journal alone.

use luaplan::app::{ReplayReport, ReplayRequest, RunSpec, Work};
use luaplan::base::{ErrorCode, RunId};
use luaplan::demo::DemoParts;
use luaplan::journal::{RunStatus, Word};
use tokio_util::sync::CancellationToken;

use super::cases;
use crate::app_parts::Bench;

async fn replay(bench: &Bench, run_id: &RunId, with: Option<&str>) -> luaplan::base::Result<ReplayReport> {
    let request = ReplayRequest {
        run_id: run_id.clone(),
        with: with.map(|source| ("other.lua".to_owned(), source.to_owned())),
        cancel: CancellationToken::new(),
    };
    bench.app.runs().replay(request).await
}

fn received(parts: &DemoParts) -> usize {
    parts.received().len()
}

#[tokio::test]
async fn every_run_replays_the_same_without_any_effect() {
    let bench = Bench::new().await;
    for case in cases() {
        let work = Work::Plan { name: "plan".to_owned(), source: case.source.clone() };
        let request =
            RunSpec { context: Some(case.context()), limits: case.limits(&bench.app), ..bench.request(work) };
        let run_id = request.run_id.clone();
        let outcome = bench.app.run(request).await;
        let (mails, records) = (received(&bench.parts), bench.records(&run_id).await.len());
        let report = replay(&bench, &run_id, None).await.unwrap();
        assert!(report.same, "{}: {report:#?}", case.name);
        assert_eq!(report.replayed["status"], outcome.status().as_str(), "{}", case.name);
        assert_eq!(received(&bench.parts), mails, "{}: a replay sent mail", case.name);
        assert_eq!(bench.records(&run_id).await.len(), records, "{}: a replay wrote", case.name);
    }
}

#[tokio::test]
async fn another_plan_gets_the_recorded_answers_and_what_differs_is_named() {
    let bench = Bench::new().await;
    let outcome = bench
        .run(
            r#"function run(context)
  local rows = query_db{ table = "users", where = "age > 30" }
  local receipt = send_email("admin@company.com", "count", tostring(#rows))
  return { count = #rows, ok = receipt.error == nil }
end"#,
        )
        .await;
    assert_eq!(outcome.status(), RunStatus::Succeeded);
    let mails = received(&bench.parts);
    let other = r#"function run(context)
  local rows = query_db{ table = "users", where = "age > 30" }
  local more = query_db{ table = "users", where = "age > 40" }
  return { count = #rows, more = more.code }
end"#;
    let report = replay(&bench, &outcome.run_id, Some(other)).await.unwrap();
    assert!(!report.same);
    assert_eq!(report.replayed["result"]["count"], 4);
    assert_eq!(report.replayed["result"]["more"], "call_not_on_record");
    let named: Vec<_> = report.calls.iter().map(|call| (call.difference, call.tool.as_str())).collect();
    assert_eq!(named, [("new", "query_db"), ("missing", "send_email")]);
    assert_eq!(received(&bench.parts), mails);
}

#[tokio::test]
async fn a_call_that_was_refused_is_no_difference() {
    let bench = Bench::with(&[("tools.query_db.rate", "\"1/h\""), ("tools.query_db.burst", "1")], None).await;
    let source = r#"function run(context)
  local first = query_db{ table = "users" }
  local second = query_db{ table = "users" }
  return { first = first.code, second = second.code }
end"#;
    let outcome = bench.run(source).await;
    assert_eq!(outcome.result.unwrap().to_json()["second"], "rate_limited");
    for with in [None, Some(source)] {
        let report = replay(&bench, &outcome.run_id, with).await.unwrap();
        assert!(report.same, "{report:#?}");
    }
}

#[tokio::test]
async fn what_cannot_be_replayed_is_refused() {
    let bench = Bench::new().await;
    let unknown = replay(&bench, &RunId::generate(), None).await.unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::NotFound);
    let refused = bench.run("function run() return nosuch() end").await;
    let error = replay(&bench, &refused.run_id, None).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::RunNotResumable);
    let fine = bench.run("function run() return 1 end").await;
    let error = replay(&bench, &fine.run_id, Some("function run( return 1 end")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::CheckRefused);
}

/// A policy file's rules.
fn rules(text: &str) -> std::sync::Arc<luaplan::bus::PolicyRules> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, text).unwrap();
    std::sync::Arc::new(luaplan::app::config::read_policy(&file).unwrap())
}

const DENIES_MAIL: &str = r#"version = 1

[[rule]]
name = "no-mail"
tool = "send_email"
decision = "deny"
reason = "nobody mails"

[[rule]]
name = "ask-databases"
tool = "query_db"
decision = "prompt"
reason = "data is looked after"
"#;

const MAIL_BY_ITSELF: &str = r#"version = 1

[[rule]]
name = "mail"
tool = "send_email"
decision = "auto"
reason = "mail is harmless here"
"#;

#[tokio::test]
async fn another_policy_is_tried_on_what_was_done() {
    let bench = Bench::new().await;
    let outcome = bench
        .run(
            r#"function run(context)
  local rows = query_db{ table = "users", where = "age > 30" }
  local sent = send_email("admin@company.com", "count", tostring(#rows))
  return { count = #rows, code = sent.error and sent.code }
end"#,
        )
        .await;
    let mails = received(&bench.parts);
    let request =
        || ReplayRequest { run_id: outcome.run_id.clone(), with: None, cancel: CancellationToken::new() };
    let report = bench.app.runs().replay_under(request(), rules(DENIES_MAIL)).await.unwrap();
    assert!(!report.same);
    assert_eq!(report.replayed["result"]["count"], 4);
    assert_eq!(report.replayed["result"]["code"], "permission_denied");
    let named: Vec<_> = report
        .policy
        .iter()
        .map(|call| {
            (
                call.tool.as_str(),
                call.recorded.as_ref().map(Word::as_str),
                call.now.as_str(),
                call.rule.as_deref(),
            )
        })
        .collect();
    let expected = [
        ("query_db", Some("auto"), "prompt", Some("ask-databases")),
        ("send_email", Some("auto"), "deny", Some("no-mail")),
    ];
    assert_eq!(named, expected);
    // One that decides as it was decided changes nothing.
    let report = bench.app.runs().replay_under(request(), rules(MAIL_BY_ITSELF)).await.unwrap();
    assert!(report.policy.is_empty(), "{report:#?}");
    assert_eq!(report.recorded, report.replayed);
    assert_eq!(received(&bench.parts), mails);
}

#[tokio::test]
async fn another_model_plans_the_task_anew_and_its_plan_meets_what_is_on_record() {
    use luaplan::llm::{RecordedClient, RecordedReply};
    let answer = |plan: &str| RecordedReply {
        matches: None,
        text: serde_json::json!({ "plan": plan, "explanation": "x" }).to_string(),
    };
    let first = "function run(context) local rows = query_db{ table = 'users' } if rows.error then error(rows.error) end \
                 return { count = #rows } end";
    let second = "function run(context) local rows = query_db{ table = 'users' } if rows.error then error(rows.error) end \
                  local old = query_db{ table = 'users', where = 'age > 60' } return { count = #rows, old = old.code } end";
    let model = std::sync::Arc::new(RecordedClient::new("both", vec![answer(first), answer(second)]));
    let bench = Bench::with(&[], Some(model)).await;
    let outcome = bench.app.run(bench.request(Work::Task("count the users".to_owned()))).await;
    let run_id = outcome.run_id.clone();
    assert_eq!(outcome.status(), RunStatus::Succeeded, "{outcome:?}");
    let records = bench.records(&run_id).await.len();
    let proposal = bench.app.runs().plan_again(&run_id, CancellationToken::new()).await.unwrap();
    assert_eq!(proposal.plan.source().trim_end(), second);
    let report = replay(&bench, &run_id, Some(proposal.plan.source())).await.unwrap();
    assert_eq!(report.replayed["result"]["old"], "call_not_on_record");
    let named: Vec<_> = report.calls.iter().map(|call| (call.difference, call.tool.as_str())).collect();
    assert_eq!(named, [("new", "query_db")]);
    assert_eq!(bench.records(&run_id).await.len(), records, "planning again wrote");
    // A saved plan has no task.
    let saved = bench.run("function run() return 1 end").await;
    let refused = bench.app.runs().plan_again(&saved.run_id, CancellationToken::new()).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::RunNotResumable);
}

#[tokio::test]
async fn an_autonomous_run_counts_its_iterations() {
    use luaplan::bus::{Circumstances, Mode};
    use luaplan::journal::EventBody;
    use luaplan::llm::{RecordedClient, RecordedReply};
    let answer = |plan: &str| RecordedReply {
        matches: None,
        text: serde_json::json!({ "plan": plan, "explanation": "x" }).to_string(),
    };
    let replies = vec![
        answer("function run(context) error('first') end"),
        answer("function run(context) error('second') end"),
        answer("function run(context) return { done = true } end"),
        RecordedReply { matches: None, text: r#"{"done": true, "reason": "it says so"}"#.to_owned() },
    ];
    let model = std::sync::Arc::new(RecordedClient::new("tries", replies));
    let bench = Bench::with(&[("autonomous.max_iterations", "5")], Some(model)).await;
    let circumstances = Circumstances { mode: Mode::Autonomous, ..Circumstances::default() };
    let request = RunSpec { circumstances, ..bench.request(Work::Task("try".to_owned())) };
    let outcome = bench.app.run(request).await;
    assert_eq!(outcome.status(), RunStatus::Succeeded, "{outcome:?}");
    let records = bench.records(&outcome.run_id).await;
    let iterations: Vec<(u32, u32)> = records
        .iter()
        .filter_map(|record| match &record.event.body {
            EventBody::Iteration { iteration, iterations_max, done: None, .. } => {
                Some((*iteration, *iterations_max))
            }
            _ => None,
        })
        .collect();
    assert_eq!(iterations, [(1, 5), (2, 5), (3, 5)]);
    // A structured run works by its one plan and says nothing of it.
    let structured = bench.run("function run() return 1 end").await;
    assert!(!bench.events(&structured.run_id).await.contains(&"iteration"));
}
