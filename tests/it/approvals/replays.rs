//! Runs that people decided about, replayed under a policy: what was decided then, and by which arguments.

use std::sync::Arc;
use std::time::Duration;

use luaplan::app::config::read_policy;
use luaplan::app::{ApprovalAnswer, ReplayReport, ReplayRequest};
use luaplan::base::Value;
use luaplan::journal::Word;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;

async fn under(governed: &Governed, run_id: &RunId, with: Option<&str>, policy: &str) -> ReplayReport {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("policy.toml");
    std::fs::write(&file, policy).unwrap();
    let request = ReplayRequest {
        run_id: run_id.clone(),
        with: with.map(|source| ("other.lua".to_owned(), source.to_owned())),
        cancel: CancellationToken::new(),
    };
    governed.bench.app.runs().replay_under(request, Arc::new(read_policy(&file).unwrap())).await.unwrap()
}

/// [`POLICY`], and mail of that subject is denied.
fn denying(subject: &str) -> String {
    format!(
        "{POLICY}\n[[rule]]\nname = \"no-such-mail\"\ntool = \"send_email\"\ndecision = \"deny\"\n\
         reason = \"no such mail\"\narguments.subject = \"{subject}\"\n"
    )
}

fn decided(report: &ReplayReport) -> Vec<(&str, Option<&str>, &str)> {
    let calls = report.policy.iter();
    calls
        .map(|call| (call.call_id.as_str(), call.recorded.as_ref().map(Word::as_str), call.now.as_str()))
        .collect()
}

#[tokio::test]
async fn an_edited_call_is_judged_by_the_arguments_that_went_out() {
    let governed = Governed::new(POLICY).await;
    let run_id = governed.paused(MAILER).await;
    let edited = r#"{"to": "admin@company.com", "subject": "gentler", "body": "x"}"#;
    governed.decide(&run_id, ApprovalAnswer::Edit(Value::from_json_text(edited).unwrap())).await;
    governed.resume(&run_id).await.result.unwrap();
    for with in [None, Some(MAILER)] {
        // The plan wrote the subject `hello`, which was never sent.
        for policy in [POLICY.to_owned(), denying("hello")] {
            let report = under(&governed, &run_id, with, &policy).await;
            assert!(report.same, "{report:#?}");
        }
        let report = under(&governed, &run_id, with, &denying("gentler")).await;
        assert_eq!(decided(&report), [("1", Some("prompt"), "deny")]);
        assert_eq!(report.replayed["result"]["code"], "permission_denied");
        let explained = governed.bench.app.approvals().explain_run(&run_id, None).await.unwrap();
        assert_eq!(report.policy[0].arguments, explained[0].arguments);
        assert_eq!(explained[0].arguments["subject"], "gentler");
    }
    assert_eq!(governed.mails(), 1);
}

#[tokio::test]
async fn another_plan_is_told_what_was_decided_about_the_calls_it_shares() {
    let governed = Governed::new(POLICY).await;
    let run_id = governed.paused(MAILER).await;
    governed.decide(&run_id, ApprovalAnswer::Once).await;
    governed.resume(&run_id).await.result.unwrap();
    // The same call in another place of the plan, and one that the run never made.
    let other = r#"function run(context)
  local rows = query_db{ table = "users" }
  local sent = send_email("admin@company.com", "hello", "x")
  local more = send_email("admin@company.com", "more", "x")
  return { rows = rows.code, delivered = sent.delivered, more = more.code }
end"#;
    let report = under(&governed, &run_id, Some(other), POLICY).await;
    assert_eq!(decided(&report), [("3", None, "prompt")]);
    assert_eq!(
        report.replayed["result"],
        json!({ "rows": "call_not_on_record", "delivered": true, "more": "call_not_on_record" })
    );
    let report = under(&governed, &run_id, Some(other), &denying("hello")).await;
    assert_eq!(decided(&report), [("2", Some("prompt"), "deny"), ("3", None, "prompt")]);
}

#[tokio::test]
async fn the_same_policy_changes_nothing_whatever_was_decided() {
    let governed = Governed::new(POLICY).await;
    // Two calls that ask for the same: the second is allowed and made before the first is denied.
    let run_id = governed
        .paused(
            r#"function run(context)
  local mail = function() return send_email("admin@company.com", "hello", "x") end
  local done = parallel{ mail, mail }
  return { first = done[1].code, second = done[2].delivered }
end"#,
        )
        .await;
    let waiting = governed.state(&run_id).await.approvals;
    let report = under(&governed, &run_id, None, POLICY).await;
    assert!(report.same && report.policy.is_empty(), "{report:#?}");
    let app = &governed.bench.app;
    decide(app, &waiting[1].approval_id, ApprovalAnswer::Once, "ann").await.unwrap();
    assert_asks(&governed.resume(&run_id).await);
    decide(app, &waiting[0].approval_id, ApprovalAnswer::Deny("no".into()), "ann").await.unwrap();
    let ended = governed.resume(&run_id).await.result.unwrap().to_json();
    assert_eq!(ended, json!({ "first": "approval_denied", "second": true }));
    let report = under(&governed, &run_id, None, POLICY).await;
    assert!(report.same, "{report:#?}");

    // Denied by a rule.
    let to_the_boss = MAILER.replace("admin@", "boss@");
    let denied = governed.bench.run(&to_the_boss).await.run_id;
    // Allowed for a time, in another run.
    let granting = governed.paused(MAILER).await;
    governed.decide(&granting, ApprovalAnswer::For(Duration::from_secs(3600))).await;
    governed.resume(&granting).await.result.unwrap();
    let granted = governed.bench.run(MAILER).await;
    assert!(granted.result.is_ok(), "{granted:?}");
    for run_id in [&denied, &granting, &granted.run_id] {
        let report = under(&governed, run_id, None, POLICY).await;
        assert!(report.same, "{report:#?}");
    }
    let report = under(&governed, &granted.run_id, None, &denying("hello")).await;
    assert_eq!(decided(&report), [("1", Some("prompt"), "deny")]);
    let report = under(&governed, &denied, None, "version = 1").await;
    assert_eq!(decided(&report), [("1", Some("deny"), "prompt")]);
}
