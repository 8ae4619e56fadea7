//! A decision holds for one run, plan, call and argument.

use luaplan::app::ApprovalAnswer;
use luaplan::base::{ContentHash, ErrorCode, SpanId, SystemRandomness, TraceId};
use luaplan::bus::approval_id;
use luaplan::journal::{ApprovalState, DecisionKind, Durability, Event, EventBody, JournalWrite as _};

use super::*;

/// Records a request like `asked`, and an approval of it, for another plan, tool or other arguments.
async fn allow(
    governed: &Governed,
    run_id: &RunId,
    asked: &ApprovalState,
    [plan, tool, arguments]: [&ContentHash; 3],
) {
    let id = approval_id(run_id, &asked.call_id, Some(plan), tool, arguments);
    let requested = EventBody::ApprovalRequested {
        approval_id: id.clone(),
        call_id: asked.call_id.clone(),
        tool: asked.tool.clone(),
        effect: asked.effect,
        line: asked.line,
        arguments: asked.arguments.clone(),
        arguments_hash: arguments.clone(),
        plan_hash: plan.clone(),
        tier: asked.tier.clone(),
        rules: asked.rules.clone(),
        reason: asked.reason.clone(),
        origins: asked.origins.clone(),
        tool_hash: Some(tool.clone()),
    };
    let resolved = EventBody::ApprovalResolved {
        approval_id: id,
        call_id: asked.call_id.clone(),
        tool: asked.tool.clone(),
        plan_hash: plan.clone(),
        arguments_hash: arguments.clone(),
        decision: DecisionKind::Once.into(),
        by: "ann".into(),
        arguments: None,
        reason: None,
        grant_id: None,
        goes_on: false,
        os_user: None,
    };
    for body in [requested, resolved] {
        let event = Event {
            run_id: run_id.clone(),
            trace_id: TraceId::generate(&SystemRandomness),
            span_id: SpanId::generate(&SystemRandomness),
            at: governed.bench.app.history().now(),
            candidate: None,
            redacted: Vec::new(),
            body,
        };
        governed.bench.app.journal().append(event, Durability::Forced).await.unwrap();
    }
}

#[tokio::test]
async fn leave_for_another_plan_tool_or_argument_is_no_leave() {
    let governed = Governed::new(POLICY).await;
    let run_id = governed.paused(MAILER).await;
    let asked = governed.state(&run_id).await.approvals.remove(0);
    let other = ContentHash::of(b"other");
    let tool = asked.tool_hash.clone().unwrap();
    for bound_to in [
        [&other, &tool, &asked.arguments_hash],
        [&asked.plan_hash, &other, &asked.arguments_hash],
        [&asked.plan_hash, &tool, &other],
    ] {
        allow(&governed, &run_id, &asked, bound_to).await;
        assert_asks(&governed.resume(&run_id).await);
        assert_eq!(governed.mails(), 0);
    }
    // The same, bound to the call itself, is an approval.
    allow(&governed, &run_id, &asked, [&asked.plan_hash, &tool, &asked.arguments_hash]).await;
    governed.resume(&run_id).await.result.unwrap();
    assert_eq!(governed.mails(), 1);
}

#[tokio::test]
async fn a_decision_for_what_is_not_asked_any_more_is_stale() {
    let governed = Governed::new(POLICY).await;
    let app = &governed.bench.app;
    let run_id = governed.paused(MAILER).await;
    let id = governed.state(&run_id).await.approvals.remove(0).approval_id;
    decide(app, &id, ApprovalAnswer::Deny("no".into()), "ann").await.unwrap();
    let late = decide(app, &id, ApprovalAnswer::Once, "bob").await.unwrap_err();
    assert_eq!(late.code(), ErrorCode::ApprovalStale);
    assert!(late.message().contains("`deny` by ann"), "{late}");
    assert_eq!(late.details()["decision"]["reason"], "no");
    let changed = format!("{}0", &id[..id.len() - 1]);
    assert_eq!(
        decide(app, &changed, ApprovalAnswer::Once, "bob").await.unwrap_err().code(),
        ErrorCode::ApprovalStale
    );
    let nowhere = id.replacen(run_id.as_str(), RunId::generate().as_str(), 1);
    for unknown in [nowhere.as_str(), "x", ""] {
        let error = decide(app, unknown, ApprovalAnswer::Once, "bob").await.unwrap_err();
        assert_eq!(error.code(), ErrorCode::NotFound, "{unknown}");
    }
}

#[tokio::test]
async fn only_approvers_decide() {
    let governed =
        Governed::new(&POLICY.replacen("version = 1", "version = 1\napprovers = [\"ops-*\"]", 1)).await;
    let run_id = governed.paused(MAILER).await;
    let id = governed.state(&run_id).await.approvals.remove(0).approval_id;
    let refused = decide(&governed.bench.app, &id, ApprovalAnswer::Once, "ann").await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::Forbidden);
    decide(&governed.bench.app, &id, ApprovalAnswer::Once, "ops-1").await.unwrap();
}
