//! Several that decide about the same call: one does, and the others are told.

use luaplan::app::ApprovalAnswer;
use luaplan::base::ErrorCode;
use serde_json::json;

use super::*;
use crate::cli::{Folder, finish};
use crate::http_support::{Client, Service};
use crate::survival;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_applications_on_one_journal_one_decides() {
    let governed = Governed::new(POLICY).await;
    let run_id = governed.paused(MAILER).await;
    let id = governed.state(&run_id).await.approvals.remove(0).approval_id;
    let mut flags = governed.bench.parts.configuration();
    flags.push(("policy.file".to_owned(), governed.policy.display().to_string().into()));
    let apps = futures::future::join_all(
        (0..4).map(|_| survival::open(governed.bench.folder(), flags.clone(), None)),
    )
    .await;
    let answers = futures::future::join_all(apps.iter().enumerate().map(|(number, app)| {
        let answer = match number % 2 {
            0 => ApprovalAnswer::For(std::time::Duration::from_secs(60)),
            _ => ApprovalAnswer::Deny("no".to_owned()),
        };
        let (id, by) = (id.clone(), format!("approver{number}"));
        async move { decide(app, &id, answer, &by).await }
    }))
    .await;
    let won: Vec<_> = answers.iter().filter_map(|answer| answer.as_ref().ok()).collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    let winner = &won[0].decision.as_ref().unwrap().by;
    for lost in answers.iter().filter_map(|answer| answer.as_ref().err()) {
        assert_eq!(lost.code(), ErrorCode::ApprovalStale);
        assert!(lost.message().contains(winner.as_str()), "{lost}");
    }
    let events = governed.bench.events(&run_id).await;
    assert_eq!(events.iter().filter(|name| **name == "approval_resolved").count(), 1);
    // What came with the losers' decisions is not there either.
    let grants = usize::from(won[0].decision.as_ref().unwrap().grant_id.is_some());
    assert_eq!(events.iter().filter(|name| **name == "grant_issued").count(), grants);
}

#[test]
fn of_two_processes_one_decides() {
    let folder = Folder::with(&[
        ("policy.toml", POLICY),
        ("luaplan.toml", &format!("{}policy.file = \"policy.toml\"\n", absent_mail_server())),
        ("plan.lua", MAILER),
    ]);
    folder.run(&["run", "plan.lua"]).exits(5);
    let mut commands: Vec<_> = (0..4)
        .map(|number| {
            let deny = format!("process {number}");
            folder.command(&["approve", "last", "1", "--deny", &deny, "--no-resume"])
        })
        .collect();
    let ended: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            commands.iter_mut().map(|command| scope.spawn(move || finish(command))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let won = ended.iter().filter(|end| end.code == 0).count();
    assert_eq!(won, 1, "{}", ended.iter().map(ToString::to_string).collect::<String>());
    for lost in ended.iter().filter(|end| end.code != 0) {
        // Either the race was lost, or the call did not wait any more when the process looked.
        assert_eq!(lost.code, 2, "{lost}");
        assert!(lost.err.contains("approval_stale") || lost.err.contains("not_found"), "{lost}");
    }
    folder.run(&["audit", "verify"]).exits(0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_forty_approvers_over_http_one_decides_and_the_others_are_told_who() {
    let folder = tempfile::tempdir().unwrap();
    let name = |number: usize| format!("approver{number:02}");
    let key = |number: usize| format!("k-{number:022}");
    let keys: String =
        (0..40).map(|number| format!("{} {} tenant=acme\n", name(number), key(number))).collect();
    let names: Vec<String> = (0..40).map(|number| format!("{:?}", name(number))).collect();
    let policy = format!("approvers = [{}]\n{POLICY}", names.join(", "));
    let file = |name: &str, text: &str| {
        std::fs::write(folder.path().join(name), text).unwrap();
        format!("{:?}", folder.path().join(name).display().to_string())
    };
    let (keys, policy) = (file("keys", &keys), file("policy.toml", &policy));
    let mut settings = vec![("server.api_keys_file", keys.as_str()), ("policy.file", &policy)];
    settings.extend(ABSENT_MAIL_SERVER);
    let service = Service::with(&settings, None).await;
    let of = |number: usize| Client { key: Some(key(number)), ..service.client.clone() };
    let paused = of(0).post("/v1/runs?wait=25s", &json!({ "plan": MAILER })).await.json();
    let run = paused["run_id"].as_str().unwrap().to_owned();
    let waits = of(0).get(&format!("/v1/approvals?run={run}")).await.json()["approvals"][0].clone();
    let path = format!("/v1/approvals/{}", waits["approval_id"].as_str().unwrap());
    let answers = futures::future::join_all((0..40).map(|number| {
        let (client, path) = (of(number), path.clone());
        let body = match number % 3 {
            0 => json!({ "decision": "once", "resume": false }),
            1 => json!({ "decision": "for", "for": "1h", "resume": false }),
            _ => json!({ "decision": "deny", "reason": "no", "resume": false }),
        };
        tokio::spawn(async move { client.post(&path, &body).await })
    }))
    .await;
    let answers: Vec<_> = answers.into_iter().map(Result::unwrap).collect();
    let won: Vec<usize> = (0..40).filter(|number| answers[*number].status == 200).collect();
    assert_eq!(won.len(), 1, "{answers:?}");
    let winner = name(won[0]);
    assert_eq!(answers[won[0]].json()["approval"]["decision"]["by"], winner);
    for lost in (0..40).filter(|number| *number != won[0]) {
        let problem = answers[lost].problem(409, "approval_stale");
        let first = [&problem["decision"]["by"], &problem["first"]["by"], &problem["message"]];
        assert!(
            first.iter().any(|told| told.as_str().is_some_and(|told| told.contains(&winner))),
            "{problem}"
        );
    }
    let resolved = service.records(&run).await;
    let resolved = resolved.iter().filter(|record| record.event.body.name() == "approval_resolved").count();
    assert_eq!(resolved, 1);
}
