//! What came of a call in doubt, said over the protocol.

use luaplan::base::RunId;
use luaplan::demo::DemoParts;
use serde_json::{Value as Json, json};

use super::{Session, rests};
use crate::approvals::{MAILER, POLICY};
use crate::survival::resume::{TAKEN, in_doubt};
use crate::survival::{Case, Job, Kill};

async fn session(parts: &DemoParts, folder: &std::path::Path, more: &[String]) -> Session {
    let parts = parts.configuration().into_iter().map(|(key, value)| format!("{key}={value}"));
    let settings: Vec<String> = parts.chain(more.iter().cloned()).collect();
    Session::start(folder, &settings.iter().map(String::as_str).collect::<Vec<_>>()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_in_doubt_is_done_failed_or_made_again() {
    let ways = [
        (json!({ "done": serde_json::from_str::<Json>(TAKEN).unwrap() }), "answer", json!("250 taken"), 1),
        (json!({ "failed": "it never came" }), "said", json!("it never came"), 1),
        (json!({ "retry": true }), "answer", Json::Null, 2),
    ];
    for (said, member, expected, mails) in ways {
        let folder = tempfile::tempdir().unwrap();
        let parts = DemoParts::start(&folder.path().join("parts")).await.unwrap();
        let run_id = in_doubt(&parts, folder.path()).await;
        let session = session(&parts, folder.path(), &[]).await;
        let run = json!({ "run_id": run_id });
        let (code, data) = rests(session.call("resume_run", run.clone()).await);
        assert_eq!(code, "call_in_doubt", "{data}");
        assert_eq!(data["error"]["calls_in_doubt"], json!(["1"]), "{data}");
        for wrong in [
            json!({ "1": {} }),
            json!({ "1": { "retry": true, "failed": "x" } }),
            json!({ "1": { "retry": false } }),
            json!({ "9": { "retry": true } }),
            json!({ "1": { "done": 7 } }),
            json!([]),
        ] {
            let (code, data) =
                session.refused("resume_run", json!({ "run_id": run_id, "resolve": wrong })).await;
            assert_eq!(code, "bad_request", "{wrong}: {data}");
        }
        assert_eq!(parts.received().len(), 1, "nothing was made again by what was refused");
        let outcome = session.done("resume_run", json!({ "run_id": run_id, "resolve": { "1": said } })).await;
        assert_eq!(outcome["status"], "succeeded", "{outcome}");
        if !expected.is_null() {
            assert_eq!(outcome["result"][member], expected, "{outcome}");
        }
        assert_eq!(parts.received().len(), mails, "{said}");
        let audit = session.done("audit", json!({ "event": "call_resolved" })).await;
        assert_eq!(audit["records"].as_array().unwrap().len(), 1, "{audit}");
    }
}

/// A person allowed the call once; whether it is made a second time is not the assistant's to say.
#[tokio::test(flavor = "multi_thread")]
async fn a_call_a_person_allowed_is_not_made_again_by_an_assistant() {
    let folder = tempfile::tempdir().unwrap();
    let parts = DemoParts::start(&folder.path().join("parts")).await.unwrap();
    let policy = folder.path().join("policy.toml");
    std::fs::write(&policy, POLICY).unwrap();
    let mut flags = parts.configuration();
    flags.push(("policy.file".to_owned(), policy.display().to_string().into()));
    let run_id = RunId::generate();
    let job = |decides, kill| Job {
        folder: folder.path().to_owned(),
        flags: flags.clone(),
        run_id: run_id.to_string(),
        case: Case {
            name: "mailer".to_owned(),
            source: MAILER.to_owned(),
            context: json!({}),
            limits: Vec::new(),
        },
        kill,
        decides,
        stops: false,
    };
    assert!(job(false, None).run().success());
    // approval_resolved, run_resumed, tool_call_started, then the outcome.
    assert!(!job(true, Some(Kill { write: 4, after: false })).run().success());
    assert_eq!(parts.received().len(), 1, "the mail is out, and nobody knows");
    let session =
        session(&parts, folder.path(), &[format!("policy.file={:?}", policy.display().to_string())]).await;
    let resume = |said: Json| json!({ "run_id": run_id, "resolve": { "1": said } });
    let (code, data) = session.refused("resume_run", resume(json!({ "retry": true }))).await;
    assert_eq!(code, "approval_required", "{data}");
    let help = data["error"]["help"].as_str().unwrap();
    assert!(help.contains(&format!("luaplan resume {run_id} --retry 1")), "{help}");
    assert_eq!(parts.received().len(), 1);
    let done = json!({ "done": serde_json::from_str::<Json>(TAKEN).unwrap() });
    assert_eq!(session.done("resume_run", resume(done)).await["status"], "succeeded");
    assert_eq!(parts.received().len(), 1);
}
