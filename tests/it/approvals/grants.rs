//! Allowed for a time: what a grant covers, and until when.

use std::time::Duration;

use luaplan::app::ApprovalAnswer;
use luaplan::base::{ContentHash, ErrorCode, Value};
use luaplan::journal::{Durability, EventBody, JournalWrite as _, Tier};

use super::*;

async fn granted(governed: &Governed, time: Duration) -> String {
    let run_id = governed.paused(MAILER).await;
    governed.decide(&run_id, ApprovalAnswer::For(time)).await;
    governed.resume(&run_id).await.result.unwrap();
    grant_of(governed, &run_id).await
}

async fn grant_of(governed: &Governed, run_id: &RunId) -> String {
    let records = governed.bench.records(run_id).await;
    let grant = records.iter().find_map(|record| match &record.event.body {
        EventBody::GrantIssued { grant_id, .. } => Some(grant_id.clone()),
        _ => None,
    });
    grant.unwrap()
}

#[tokio::test]
async fn a_grant_covers_what_the_same_rules_ask_about_and_nothing_more() {
    let governed = Governed::new(POLICY).await;
    let grant = granted(&governed, Duration::from_secs(3600)).await;
    assert_eq!(governed.mails(), 1);
    let next = governed.bench.run(MAILER).await;
    next.result.unwrap();
    assert_eq!(governed.mails(), 2);
    assert_eq!(governed.state(&next.run_id).await.calls[0].allowed_by, Some(format!("grant:{grant}")));
    // One more rule asks about this one.
    let context = Value::from_json_text(r#"{"subject": "FINAL"}"#).unwrap();
    let limits = governed.bench.limits();
    assert_asks(&governed.bench.run_with(MAILER, Some(context), limits).await);
    assert_eq!(governed.mails(), 2);
}

#[tokio::test]
async fn an_expired_grant_covers_nothing_and_a_replay_does_not_look() {
    let governed = Governed::new(POLICY).await;
    granted(&governed, Duration::from_secs(3600)).await;
    let under = governed.bench.run(MAILER).await.run_id;
    let short = Governed::new(POLICY).await;
    granted(&short, Duration::from_millis(1)).await;
    tokio::time::sleep(Duration::from_millis(5)).await;
    short.paused(MAILER).await;
    assert_eq!(short.mails(), 1);
    // The run that used the grant is the same again whatever the time is.
    let request = luaplan::app::ReplayRequest { run_id: under, with: None, cancel: CancellationToken::new() };
    assert!(governed.bench.app.runs().replay(request).await.unwrap().same);
}

#[tokio::test]
async fn times_beyond_the_cap_are_refused() {
    let governed = Governed::new(POLICY).await;
    let run_id = governed.paused(MAILER).await;
    let id =
        governed.bench.app.approvals().pending(Some(&run_id)).await.unwrap().remove(0).request.approval_id;
    for seconds in [0, 31 * 24 * 3600] {
        let answer = ApprovalAnswer::For(Duration::from_secs(seconds));
        let refused = decide(&governed.bench.app, &id, answer, "ann").await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::BadRequest, "{seconds}");
    }
    assert_eq!(governed.state(&run_id).await.pending_approvals().count(), 1);
}

/// Puts a grant on record that differs from the one of `run_id` as `change` says.
async fn regranted(governed: &Governed, run_id: &RunId, change: impl Fn(&mut EventBody)) {
    let records = governed.bench.records(run_id).await;
    let issued = records.iter().find(|record| record.event.body.name() == "grant_issued").unwrap();
    let mut event = issued.event.clone();
    if let EventBody::GrantIssued { grant_id, .. } = &mut event.body {
        *grant_id = "another".into();
    }
    change(&mut event.body);
    governed.bench.app.journal().append(event, Durability::Forced).await.unwrap();
}

#[tokio::test]
async fn a_grant_covers_the_tool_as_it_was_and_no_stricter_asking() {
    let governed = Governed::new("version = 1").await;
    let run_id = governed.paused(MAILER).await;
    governed.decide(&run_id, ApprovalAnswer::For(Duration::from_secs(3600))).await;
    governed.resume(&run_id).await.result.unwrap();
    revoke(&governed.bench.app, &grant_of(&governed, &run_id).await, "ann").await.unwrap();
    regranted(&governed, &run_id, |body| {
        if let EventBody::GrantIssued { tool_hash, .. } = body {
            *tool_hash = Some(ContentHash::of(b"another tool of that name"));
        }
    })
    .await;
    regranted(&governed, &run_id, |body| {
        if let EventBody::GrantIssued { tier, .. } = body {
            *tier = Some(Tier::Auto.into());
        }
    })
    .await;
    governed.paused(MAILER).await;
    assert_eq!(governed.mails(), 1);
    regranted(&governed, &run_id, |body| {
        if let EventBody::GrantIssued { tier, .. } = body {
            *tier = Some(Tier::Manual.into());
        }
    })
    .await;
    governed.bench.run(MAILER).await.result.unwrap();
    assert_eq!(governed.mails(), 2);
}

#[tokio::test]
async fn a_revoked_grant_covers_nothing_from_then_on() {
    let governed = Governed::new(&format!("approvers = [\"ann\"]\n{POLICY}")).await;
    let run_id = governed.paused(MAILER).await;
    governed.decide(&run_id, ApprovalAnswer::For(Duration::from_secs(3600))).await;
    governed.resume(&run_id).await.result.unwrap();
    let grant = grant_of(&governed, &run_id).await;
    let app = &governed.bench.app;
    assert_eq!(revoke(app, &grant, "bob").await.unwrap_err().code(), ErrorCode::Forbidden);
    assert_eq!(revoke(app, "none", "ann").await.unwrap_err().code(), ErrorCode::NotFound);
    assert!(revoke(app, &grant, "ann").await.unwrap().is_revoked);
    assert_eq!(revoke(app, &grant, "ann").await.unwrap_err().code(), ErrorCode::ApprovalStale);
    governed.paused(MAILER).await;
    assert_eq!(governed.mails(), 1);
    // The run it was issued in stays what it was, and its replay the same.
    assert_eq!(governed.state(&run_id).await.status, RunStatus::Succeeded);
    let request = luaplan::app::ReplayRequest { run_id, with: None, cancel: CancellationToken::new() };
    assert!(app.runs().replay(request).await.unwrap().same);
}

#[tokio::test]
async fn of_several_who_revoke_at_once_one_does_and_other_grants_of_the_run_do_not_count() {
    let governed = Governed::new(POLICY).await;
    let run_id = governed.paused(MAILER).await;
    governed.decide(&run_id, ApprovalAnswer::For(Duration::from_secs(3600))).await;
    governed.resume(&run_id).await.result.unwrap();
    let grant = grant_of(&governed, &run_id).await;
    regranted(&governed, &run_id, |_| {}).await;
    let app = &governed.bench.app;
    revoke(app, "another", "ann").await.unwrap();
    let revokes = futures::future::join_all((0..4).map(|_| revoke(app, &grant, "ann"))).await;
    let lost: Vec<ErrorCode> =
        revokes.iter().filter_map(|revoked| revoked.as_ref().err().map(luaplan::base::Error::code)).collect();
    assert_eq!(lost, [ErrorCode::ApprovalStale; 3]);
    let records = governed.bench.records(&run_id).await;
    let revoked = records.iter().filter(|record| record.event.body.name() == "grant_revoked").count();
    assert_eq!(revoked, 2);
}
