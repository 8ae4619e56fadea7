//! Replay: the same again, from the journal alone.

use luaplan::app::{ReplayReport, ReplayRequest, RunRequest, Work};
use luaplan::base::{ErrorCode, RunId};
use luaplan::demo::DemoParts;
use luaplan::journal::RunStatus;
use tokio_util::sync::CancellationToken;

use super::cases;
use crate::app_parts::Bench;

async fn replay(bench: &Bench, run_id: &RunId, with: Option<&str>) -> luaplan::base::Result<ReplayReport> {
    let request = ReplayRequest {
        run_id: run_id.clone(),
        with: with.map(|source| ("other.lua".to_owned(), source.to_owned())),
        cancel: CancellationToken::new(),
    };
    bench.app.replay(request).await
}

fn received(parts: &DemoParts) -> usize {
    parts.received().len()
}

#[tokio::test]
async fn every_run_replays_the_same_without_any_effect() {
    let bench = Bench::new().await;
    for case in cases() {
        let work = Work::Plan { name: "plan".to_owned(), source: case.source.clone() };
        let request = RunRequest {
            context: Some(case.context()),
            limits: case.limits(&bench.app),
            ..bench.request(work)
        };
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
