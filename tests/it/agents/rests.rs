//! An agent that needs a person or time puts the runs above it to rest.

use luaplan::app::{ApprovalAnswer, CallResolution, ResumeRequest, Work};
use luaplan::base::ErrorCode;
use luaplan::journal::{JournalRead as _, Resolved, RunStatus};

use super::{COUNTER, agent};
use crate::app_parts::Bench;
use crate::approvals::{POLICY, assert_asks, decide, resume_request};

async fn governed() -> (Bench, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let policy = folder.path().join("policy.toml");
    let handing_on = "\n[[rule]]\nname = \"agents\"\ntool = \"call_agent\"\ndecision = \"auto\"\nreason = \"they are asked themselves\"\n";
    std::fs::write(&policy, format!("{POLICY}{handing_on}")).unwrap();
    let policy = format!("{:?}", policy.display().to_string());
    let (key, text) = agent(folder.path(), "teller", COUNTER, &["query_db", "send_email"]);
    let outer = "function run(context) local got = call_agent('teller', context) if got.error then error(got.error) end return got end";
    let (outer_key, outer_text) =
        agent(folder.path(), "outer", outer, &["query_db", "send_email", "call_agent"]);
    let settings = [("policy.file", policy.as_str()), (&key, &text), (&outer_key, &outer_text)];
    (Bench::with(&settings, None).await, folder)
}

/// Two agents deep.
const ASKS: &str = r#"function run(context)
  local got = call_agent("outer", { above = 30, tell = "admin@company.com" })
  if got.error then return { code = got.code, said = got.error } end
  return got
end"#;

#[tokio::test]
async fn an_agent_that_waits_for_a_person_pauses_its_callers_and_all_go_on_together() {
    let (bench, _folder) = governed().await;
    for through_child in [false, true] {
        let before = bench.parts.received().len();
        let outcome = bench.run(ASKS).await;
        assert_asks(&outcome);
        let pending = bench.app.approvals().pending(Some(&outcome.run_id)).await.unwrap();
        assert_eq!(pending.len(), 1);
        let child = pending[0].run_id.clone();
        assert_ne!(child, outcome.run_id);
        assert_eq!(bench.app.history().root_of(&child).await.unwrap(), outcome.run_id);
        decide(&bench.app, &pending[0].request.approval_id, ApprovalAnswer::Once, "ann").await.unwrap();
        // Whichever run is named, the outermost caller resumes.
        let named = if through_child { &child } else { &outcome.run_id };
        let done = bench.app.resume(resume_request(named)).await.unwrap();
        assert_eq!(done.run_id, outcome.run_id);
        assert_eq!(done.result.unwrap().to_json()["count"], 4);
        assert_eq!(bench.parts.received().len(), before + 1);
        let state = bench.app.journal().run_state(&child).await.unwrap().unwrap();
        assert_eq!(state.status, RunStatus::Succeeded);
        let calls: Vec<(&str, u32)> =
            state.calls.iter().map(|call| (call.tool.as_str(), call.attempts)).collect();
        assert_eq!(calls, [("query_db", 1), ("send_email", 1)]);
    }
}

/// The agent's run decides the outcome of the call; a caller cannot resolve it.
#[tokio::test]
async fn the_call_of_an_agent_that_waits_is_not_in_doubt() {
    let (bench, _folder) = governed().await;
    let outcome = bench.run(ASKS).await;
    assert_asks(&outcome);
    let before = bench.app.journal().run_state(&outcome.run_id).await.unwrap().unwrap();
    let child = before.calls[0].child_run_id.clone().unwrap();
    for resolved in [
        Resolved::Retry,
        Resolved::Done { result: serde_json::json!({ "count": 1 }) },
        Resolved::Failed { message: "no".to_owned() },
    ] {
        let said = CallResolution { call_id: before.calls[0].call_id.as_str().to_owned(), resolved };
        let request = ResumeRequest { resolutions: vec![said], ..resume_request(&outcome.run_id) };
        let refused = bench.app.resume(request).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::BadRequest);
        assert!(refused.message().contains("`call_agent` is not in doubt: it waits"), "{refused}");
        assert!(refused.help().contains(&format!("luaplan show {child}")), "{}", refused.help());
    }
    let after = bench.app.journal().run_state(&outcome.run_id).await.unwrap().unwrap();
    assert_eq!((after.status, after.calls.len()), (RunStatus::Paused, before.calls.len()));
}

#[tokio::test]
async fn a_denial_reaches_the_caller_as_an_error_value() {
    let (bench, _folder) = governed().await;
    let outcome = bench.run(ASKS).await;
    let pending = bench.app.approvals().pending(Some(&outcome.run_id)).await.unwrap();
    let answer = ApprovalAnswer::Deny("not today".to_owned());
    decide(&bench.app, &pending[0].request.approval_id, answer, "ann").await.unwrap();
    let done = bench.app.resume(resume_request(&outcome.run_id)).await.unwrap();
    let result = done.result.unwrap().to_json();
    assert!(result["said"].as_str().unwrap().contains("not today"), "{result}");
    assert_eq!(bench.parts.received().len(), 0);
}

#[tokio::test]
async fn a_paused_family_is_cancelled_together() {
    let (bench, _folder) = governed().await;
    let outcome = bench.run(ASKS).await;
    let pending = bench.app.approvals().pending(Some(&outcome.run_id)).await.unwrap();
    let child = pending[0].run_id.clone();
    let refused = bench.app.runs().cancel(&child, None).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::RunNotActive);
    bench.app.runs().cancel(&outcome.run_id, None).await.unwrap();
    for run_id in [&outcome.run_id, &child] {
        let state = bench.app.journal().run_state(run_id).await.unwrap().unwrap();
        assert_eq!(state.status, RunStatus::Cancelled, "{run_id}");
    }
    let late = decide(&bench.app, &pending[0].request.approval_id, ApprovalAnswer::Once, "ann").await;
    assert_eq!(late.unwrap_err().code(), ErrorCode::ApprovalStale);
}

#[tokio::test]
async fn an_agent_that_sleeps_puts_its_caller_to_sleep_and_both_wake() {
    let folder = tempfile::tempdir().unwrap();
    let source = "function run(context) sleep(context.seconds) return { slept = true } end";
    let (key, text) = agent(folder.path(), "sleeper", source, &["sleep"]);
    let bench = Bench::with(&[(&key, &text)], None).await;
    let plan = |seconds: f64| {
        let source = format!(
            "function run() local got = call_agent('sleeper', {{ seconds = {seconds} }}) if got.error then error(got.error) end return got end"
        );
        bench.request(Work::Plan { name: "plan".to_owned(), source })
    };
    let outcome = bench.app.runs().run_to_rest(plan(3600.0)).await;
    let wake_at = outcome.wake_at().unwrap();
    assert_eq!(outcome.status(), RunStatus::Sleeping);
    let again = bench.app.runs().resume_to_rest(resume_request(&outcome.run_id)).await.unwrap();
    assert_eq!(again.wake_at(), Some(wake_at));
    let outcome = bench.app.run(plan(1.2)).await;
    assert_eq!(outcome.result.unwrap().to_json()["slept"], true);
}
