//! A call is asked about, decided, and made or not.

use luaplan::app::{ApprovalAnswer, ReplayRequest, RunSpec, Work};
use luaplan::base::{ErrorCode, Value};
use luaplan::bus::{Circumstances, Mode};
use luaplan::engine::RunOutcome;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::*;

async fn assert_replays(governed: &Governed, run_id: &RunId) {
    let request = ReplayRequest { run_id: run_id.clone(), with: None, cancel: CancellationToken::new() };
    let report = governed.bench.app.runs().replay(request).await.unwrap();
    assert!(report.same, "{report:?}");
}

fn result(outcome: RunOutcome) -> serde_json::Value {
    outcome.result.unwrap().to_json()
}

#[tokio::test]
async fn the_exact_call_is_asked_about_while_the_others_of_its_batch_go_on() {
    let governed = Governed::new(POLICY).await;
    let run_id = governed
        .paused(
            r#"function run(context)
  local rows = query_db{ table = "users", columns = { "email" }, limit = 1 }
  if rows.error then return rows.error end
  local done = parallel{
    function() return send_email("admin@company.com", rows[1].email, "x") end,
    function() return query_db{ table = "users", limit = 2 } end,
    function() return send_email("admin@company.com", "FINAL hello", "y") end,
  }
  for _, one in ipairs(done) do if one.error then return one.error end end
  return #done[2]
end"#,
        )
        .await;
    assert_eq!(governed.mails(), 0);
    let state = governed.state(&run_id).await;
    let made: Vec<&str> = state.calls.iter().map(|call| call.call_id.as_str()).collect();
    assert_eq!(made, ["1", "2.2"]);
    let asked: Vec<(&str, &str, &str)> = state
        .pending_approvals()
        .map(|asked| (asked.call_id.as_str(), asked.tier.as_str(), asked.reason.as_str()))
        .collect();
    assert_eq!(
        asked,
        [
            ("2.1", "prompt", "mail leaves the machine"),
            ("2.3", "manual", "the subject says that it is final")
        ]
    );
    let first = &state.approvals[0];
    assert_eq!((first.line, &first.arguments["to"]), (Some(5), &json!("admin@company.com")));
    assert_eq!(first.origins["arguments"]["subject"], json!(["the result of query_db, line 2"]));
    assert_eq!(first.origins["arguments"]["to"], json!(["written in the plan"]));
    assert_eq!(state.approvals[1].rules.len(), 2);

    // Decided one after the other; the run resumes with both.
    for approval in &state.approvals {
        decide(&governed.bench.app, &approval.approval_id, ApprovalAnswer::Once, "ann").await.unwrap();
    }
    assert_eq!(result(governed.resume(&run_id).await), json!(2));
    assert_eq!(governed.mails(), 2);
    let calls = governed.state(&run_id).await.calls;
    let leave = |id: &str| calls.iter().find(|call| call.call_id.as_str() == id).unwrap().allowed_by.clone();
    assert_eq!(leave("2.1"), Some(format!("approval:{}", first.approval_id)));
    assert_eq!(leave("2.2"), None);
    assert_replays(&governed, &run_id).await;
}

#[tokio::test]
async fn resuming_without_a_decision_asks_again_and_not_twice() {
    let governed = Governed::new(POLICY).await;
    let run_id = governed.paused(MAILER).await;
    assert_asks(&governed.resume(&run_id).await);
    let events = governed.bench.events(&run_id).await;
    assert_eq!(events.iter().filter(|name| **name == "approval_requested").count(), 1, "{events:?}");
    assert_eq!(events.iter().filter(|name| **name == "run_paused").count(), 2);
    assert_eq!(governed.state(&run_id).await.pending_approvals().count(), 1);
    assert_eq!(governed.mails(), 0);
}

#[tokio::test]
async fn a_denied_call_gives_the_plan_the_reason() {
    let governed = Governed::new(POLICY).await;
    let run_id = governed.paused(MAILER).await;
    governed.decide(&run_id, ApprovalAnswer::Deny("not on a Sunday".into())).await;
    let result = result(governed.resume(&run_id).await);
    assert_eq!(result["code"], "approval_denied");
    assert!(
        result["said"].as_str().unwrap().contains("ann denied this call of `send_email`: not on a Sunday")
    );
    assert_eq!(governed.mails(), 0);
    assert_replays(&governed, &run_id).await;
}

#[tokio::test]
async fn edited_arguments_are_checked_used_and_on_record() {
    let governed = Governed::new(POLICY).await;
    let run_id = governed.paused(MAILER).await;
    let app = &governed.bench.app;
    let id = app.approvals().pending(Some(&run_id)).await.unwrap().remove(0).request.approval_id;
    let edit = |json: &str| ApprovalAnswer::Edit(Value::from_json_text(json).unwrap());
    for (json, code) in [
        (r#"{"to": "a@company.com"}"#, ErrorCode::BadArguments),
        (r#"{"to": "a@company.com", "subject": "s", "body": "b", "colour": 1}"#, ErrorCode::BadArguments),
        (r#"{"to": "boss@company.com", "subject": "s", "body": "b"}"#, ErrorCode::PermissionDenied),
        (
            r#"{"to": "admin@company.com", "subject": "s", "body": "see http://u:p4ssw0rd@host/"}"#,
            ErrorCode::BadRequest,
        ),
        (r#"["x"]"#, ErrorCode::BadArguments),
        (r#"{"to": "a@company.com", "subject": "s", "body": "b"}"#, ErrorCode::RecipientDenied),
    ] {
        let refused = decide(app, &id, edit(json), "ann").await.unwrap_err();
        assert_eq!(refused.code(), code, "{json}: {refused}");
    }
    let fine = edit(r#"{"to": "admin@company.com", "subject": "gentler", "body": "x"}"#);
    decide(app, &id, fine, "ann").await.unwrap();
    assert_eq!(result(governed.resume(&run_id).await)["delivered"], true);
    let mail = governed.bench.parts.received().pop().unwrap();
    let text = std::fs::read_to_string(&mail.path).unwrap();
    assert!(text.contains("Subject: gentler"), "{text}");
    let call = &governed.state(&run_id).await.calls[0];
    assert_eq!(call.arguments["subject"], "gentler");
    assert!(call.planned_arguments_hash.is_some());
    assert_replays(&governed, &run_id).await;
}

#[tokio::test]
async fn a_rule_that_denies_is_named_and_a_run_it_ends_ends_by_policy() {
    let governed = Governed::new(POLICY).await;
    let context = Value::from_json_text(r#"{"to": "boss@company.com"}"#).unwrap();
    let limits = governed.bench.limits();
    let looked = governed.bench.run_with(MAILER, Some(context), limits).await;
    let result = result(looked);
    assert_eq!(result["code"], "permission_denied");
    assert!(result["said"].as_str().unwrap().contains("rule `never-the-boss`"), "{result}");
    for source in [
        "function run() local sent = send_email('boss@company.com', 's', 'x') return sent.delivered end",
        "function run() local sent = send_email('boss@company.com', 's', 'x') return 1 end",
        "function run() local sent = send_email('boss@company.com', 's', 'x') if sent.error then error(sent.error) end end",
    ] {
        let ended = governed.bench.run(source).await;
        let error = ended.error().unwrap();
        assert_eq!(error.code(), ErrorCode::PermissionDenied, "{source}: {error}");
        assert!(error.message().contains("never-the-boss"), "{error}");
        assert_replays(&governed, &ended.run_id).await;
    }
    let run_id = governed
        .paused("function run() return send_email('admin@company.com', 's', 'x').delivered end")
        .await;
    governed.decide(&run_id, ApprovalAnswer::Deny("no".into())).await;
    assert_eq!(governed.resume(&run_id).await.error().unwrap().code(), ErrorCode::ApprovalDenied);
    assert_eq!(governed.mails(), 0);
}

#[tokio::test]
async fn an_autonomous_run_is_asked_only_what_is_manual() {
    let governed = Governed::new(POLICY).await;
    let run = async |context: &str| {
        let work = Work::Plan { name: "plan".to_owned(), source: MAILER.to_owned() };
        let request = RunSpec {
            context: Some(Value::from_json_text(context).unwrap()),
            circumstances: Circumstances { mode: Mode::Autonomous, ..Circumstances::default() },
            ..governed.bench.request(work)
        };
        governed.bench.app.run(request).await
    };
    assert_eq!(result(run("{}").await)["delivered"], true);
    assert_eq!(result(run(r#"{"to": "boss@company.com"}"#).await)["code"], "permission_denied");
    let paused = run(r#"{"subject": "FINAL"}"#).await;
    assert_asks(&paused);
    governed.decide(&paused.run_id, ApprovalAnswer::Once).await;
    // The mode is the run's own, also when it resumes.
    assert_eq!(result(governed.resume(&paused.run_id).await)["delivered"], true);
    assert_eq!(governed.state(&paused.run_id).await.mode, Some(Mode::Autonomous.into()));
}

#[tokio::test]
async fn without_a_policy_file_nothing_is_asked() {
    let bench = Bench::new().await;
    let outcome = bench.run(MAILER).await;
    assert_eq!(result(outcome)["delivered"], true);
}

#[tokio::test]
async fn nothing_is_decided_about_a_run_that_cannot_go_on() {
    let governed = Governed::with_secret(POLICY, "hush-hush-9f3a").await;
    // No record keeps what the query gives: the plan cannot be shown it again.
    let source = r#"function run()
  local rows = query_db{ sql = "select 'hush' || '-hush-9f3a' as word" }
  return send_email("admin@company.com", "s", tostring(#rows[1].word)).delivered
end"#;
    let run_id = governed.paused(source).await;
    let id = governed.state(&run_id).await.approvals.remove(0).approval_id;
    for answer in [ApprovalAnswer::Once, ApprovalAnswer::For(std::time::Duration::from_secs(60))] {
        let refused = decide(&governed.bench.app, &id, answer, "ann").await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::RunNotResumable);
        assert!(refused.message().contains("held a secret"), "{refused}");
    }
    assert!(!governed.bench.events(&run_id).await.contains(&"grant_issued"));
    assert_eq!(governed.mails(), 0);
    // No call waits, in all runs and in this one.
    let app = &governed.bench.app;
    for of in [None, Some(&run_id)] {
        assert_eq!(app.approvals().pending(of).await.unwrap().len(), 0);
    }
    let refused = app.resume(resume_request(&run_id)).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::RunNotResumable);
    assert_eq!(governed.state(&run_id).await.status, RunStatus::Paused, "it is as it was");
    app.runs().cancel(&run_id, None).await.unwrap();
    assert_eq!(governed.state(&run_id).await.status, RunStatus::Cancelled);
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_its_tool_would_refuse() {
    let policy = "version = 1\n[[rule]]\nname = \"all\"\ntool = [\"query_db\", \"fetch_url\"]\n\
        decision = \"prompt\"\nreason = \"everything is asked about\"\n";
    let governed = Governed::new(policy).await;
    for (call, code) in [
        ("query_db{ sql = 'DELETE FROM users' }", "query_refused"),
        ("query_db{ sql = 'SELECT 1; SELECT 2' }", "query_refused"),
        ("query_db{ table = 'users', database = 'absent' }", "database_unknown"),
        ("fetch_url('http://10.0.0.1/')", "url_blocked"),
        ("fetch_url('ftp://example.com/')", "url_invalid"),
    ] {
        let plan = format!("function run() local got = {call} return got.error and got.code or 'made' end");
        let outcome = governed.bench.run(&plan).await;
        assert_eq!(result(outcome), json!(code), "{call}");
    }
    governed.paused("function run() local got = query_db{ table = 'users' } return #got end").await;
    // A list is answered for each of its URLs, so the others could be fetched.
    let list = "function run() local got = fetch_url({'http://10.0.0.1/', 'http://10.0.0.2/'}) return 1 end";
    governed.paused(list).await;
}
