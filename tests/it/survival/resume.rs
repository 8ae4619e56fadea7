//! Resume: who may, what is asked, what is refused.

use luaplan::app::{CallResolution, RunSpec, Work};
use luaplan::base::{ErrorCode, RunId, Value};
use luaplan::demo::DemoParts;
use luaplan::journal::{JournalRead as _, Resolved, RunStatus};

use super::{Case, Job, Kill, open, resume, resume_request};
use crate::app_parts::Bench;

/// A result of `send_email`.
pub(crate) const TAKEN: &str =
    r#"{"delivered": true, "message_id": "m", "recipients": [], "size_bytes": 1, "response": "250 taken"}"#;

fn mailer() -> Case {
    Case {
        name: "mailer".to_owned(),
        source: r#"function run(context)
  local receipt = send_email("admin@company.com", "hello", "x")
  if receipt.error then return { code = receipt.code, said = receipt.error } end
  return { answer = receipt.response }
end"#
            .to_owned(),
        context: serde_json::json!({}),
        limits: Vec::new(),
    }
}

/// A run killed right before the mail's outcome is recorded: the mail is out, without a record.
pub(crate) async fn in_doubt(parts: &DemoParts, folder: &std::path::Path) -> RunId {
    let run_id = RunId::generate();
    let job = Job {
        folder: folder.to_owned(),
        flags: parts.configuration(),
        run_id: run_id.to_string(),
        case: mailer(),
        // run_started, plan_proposed, plan_checked, plan_accepted, tool_call_started, then the outcome.
        kill: Some(Kill { write: 6, after: false }),
        decides: false,
        stops: false,
    };
    assert!(!job.run().success());
    assert_eq!(parts.received().len(), 1);
    run_id
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_person_says_what_came_of_a_call_in_doubt() {
    let ways: [(Resolved, serde_json::Value, usize); 3] = [
        (
            Resolved::Done { result: serde_json::from_str(TAKEN).unwrap() },
            serde_json::json!({ "answer": "250 taken" }),
            1,
        ),
        (
            Resolved::Failed { message: "it never came".to_owned() },
            serde_json::json!({ "code": "call_marked_failed", "said": "it never came" }),
            1,
        ),
        (Resolved::Retry, serde_json::Value::Null, 2),
    ];
    for (resolved, expected, mails) in ways {
        let folder = tempfile::tempdir().unwrap();
        let parts = DemoParts::start(&folder.path().join("parts")).await.unwrap();
        let run_id = in_doubt(&parts, folder.path()).await;
        let app = open(folder.path(), parts.configuration(), None).await;
        let paused = resume(&app, &run_id).await.unwrap();
        let error = paused.error().unwrap();
        assert_eq!((paused.status(), error.code()), (RunStatus::Paused, ErrorCode::CallInDoubt));
        assert!(error.message().contains("1 `send_email`"), "{error}");
        assert_eq!(parts.received().len(), 1);

        // All are looked at before one is recorded: after a refusal the call is in doubt as before.
        let nonsense = CallResolution { call_id: "7".to_owned(), resolved: Resolved::Retry };
        let fine = CallResolution { call_id: "1".to_owned(), resolved: resolved.clone() };
        let request =
            luaplan::app::ResumeRequest { resolutions: vec![fine, nonsense], ..resume_request(&run_id) };
        let refused = app.resume(request).await.unwrap_err();
        assert_eq!(refused.code(), ErrorCode::BadRequest);
        assert!(refused.help().contains('1'), "{}", refused.help());
        let no_result = Resolved::Done { result: serde_json::json!({ "status": "sent" }) };
        let no_result = CallResolution { call_id: "1".to_owned(), resolved: no_result };
        let request = luaplan::app::ResumeRequest { resolutions: vec![no_result], ..resume_request(&run_id) };
        assert_eq!(app.resume(request).await.unwrap_err().code(), ErrorCode::BadRequest);

        let resolution = CallResolution { call_id: "1".to_owned(), resolved };
        let request =
            luaplan::app::ResumeRequest { resolutions: vec![resolution], ..resume_request(&run_id) };
        let outcome = app.resume(request).await.unwrap();
        let result = outcome.result.unwrap().to_json();
        if expected.is_object() {
            assert_eq!(result, expected);
        } else {
            assert!(result.get("code").is_none(), "{result}");
        }
        assert_eq!(parts.received().len(), mails);
        let state = app.journal().run_state(&run_id).await.unwrap().unwrap();
        assert_eq!((state.status, state.resumptions), (RunStatus::Succeeded, 2));
        parts.stop().await;
    }
}

#[tokio::test]
async fn a_run_that_goes_on_elsewhere_is_left_alone() {
    let bench = Bench::new().await;
    let other = open(bench.folder(), bench.parts.configuration(), None).await;
    let work = Work::Plan {
        name: "plan".to_owned(),
        source: "function run() local ok = pcall(retry, 10, function() error('again') end) return ok end"
            .to_owned(),
    };
    let request: RunSpec = bench.request(work);
    let (run_id, cancel) = (request.run_id.clone(), request.cancel.clone());
    let mut events = bench.app.history().hub().subscribe();
    let (outcome, ()) = tokio::join!(bench.app.run(request), async {
        while events.recv().await.unwrap().event.body.name() != "step_retry_scheduled" {}
        for app in [&bench.app, &other] {
            let refused = resume(app, &run_id).await.unwrap_err();
            assert_eq!(refused.code(), ErrorCode::RunActive);
        }
        assert!(other.runs().abandoned_runs().await.unwrap().is_empty());
        cancel.cancel();
    });
    assert_eq!(outcome.status(), RunStatus::Cancelled);
    let refused = resume(&other, &run_id).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::RunNotResumable);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_that_resume_one_does() {
    let folder = tempfile::tempdir().unwrap();
    let parts = DemoParts::start(&folder.path().join("parts")).await.unwrap();
    let run_id = RunId::generate();
    let case = Case {
        source: "function run() local rows = query_db{ table = 'users' } \
                 local sent = send_email('admin@company.com', 'once', tostring(#rows)) return sent.error == nil end"
            .to_owned(),
        ..mailer()
    };
    let kill = Some(Kill { write: 5, after: true });
    let job = Job {
        folder: folder.path().to_owned(),
        flags: parts.configuration(),
        run_id: run_id.to_string(),
        case,
        kill,
        decides: false,
        stops: false,
    };
    assert!(!job.run().success());
    let apps =
        futures::future::join_all((0..4).map(|_| open(folder.path(), parts.configuration(), None))).await;
    assert_eq!(apps[0].runs().abandoned_runs().await.unwrap(), std::slice::from_ref(&run_id));
    let ends = futures::future::join_all(apps.iter().map(|app| resume(app, &run_id))).await;
    let done = ends.iter().filter(|end| end.as_ref().is_ok_and(|outcome| outcome.result.is_ok())).count();
    assert_eq!(done, 1, "{ends:?}");
    for refused in ends.iter().filter_map(|end| end.as_ref().err()) {
        assert!(matches!(refused.code(), ErrorCode::RunActive | ErrorCode::RunNotResumable), "{refused}");
    }
    assert_eq!(parts.received().len(), 1);
}

#[tokio::test]
async fn what_the_journal_lacks_is_not_made_up() {
    let bench = Bench::new().await;
    let done = bench.run("function run() return 1 end").await;
    let refused = resume(&bench.app, &done.run_id).await.unwrap_err();
    assert_eq!(refused.code(), ErrorCode::RunNotResumable);
    let unknown = resume(&bench.app, &RunId::generate()).await.unwrap_err();
    assert_eq!(unknown.code(), ErrorCode::NotFound);
    assert_eq!(done.result.unwrap(), Value::Integer(1));
}
