//! Journals of every version stay readable, and their hashes are what the description says.

use std::path::Path;

use luaplan::base::ErrorCode;
use luaplan::journal::{
    ApprovalState, DecisionKind, JournalRead, Mode, RECORD_VERSION, RecordFilter, ResolutionKind,
    RuleReference, RunFilter, RunStatus, SqliteJournal, Tier,
};
use sqlx::Row as _;

use super::*;

const FOLDER: &str = "tests/golden/journal";

/// The hash, written from the description alone.
fn described_hash(previous_hash: &str, sequence: u64, version: u32, body: &str) -> String {
    let mut bytes = Vec::new();
    let fields: [&[u8]; 4] = [
        previous_hash.as_bytes(),
        &[sequence as u8, (sequence >> 8) as u8, 0, 0, 0, 0, 0, 0],
        &[version as u8, 0, 0, 0],
        body.as_bytes(),
    ];
    for field in fields {
        let length = field.len() as u64;
        bytes.extend((0..8).map(|place| (length >> (8 * place)) as u8));
        bytes.extend(field);
    }
    blake3::hash(&bytes).to_string()
}

/// Writes the newest golden journal. Run by hand, once for a new version:
/// `cargo test --test it write_the_golden -- --ignored`.
#[tokio::test]
#[ignore = "writes into the source tree"]
async fn write_the_golden_journal_of_this_version() {
    let path = Path::new(FOLDER).join(format!("v{RECORD_VERSION}.sqlite"));
    assert!(!path.exists(), "a golden journal is never replaced");
    let journal = SqliteJournal::open(&path).await.unwrap();
    fill(&journal).await;
    fill_with_what_version_3_knows(&journal).await;
    fill_with_what_version_4_knows(&journal).await;
    fill_with_what_version_5_knows(&journal).await;
    let lines: Vec<String> = journal
        .records(RecordFilter::default())
        .await
        .unwrap()
        .iter()
        .map(|record| serde_json::to_string(record).unwrap() + "\n")
        .collect();
    std::fs::write(path.with_extension("jsonl"), lines.concat()).unwrap();
    journal.close().await;
}

#[tokio::test]
async fn the_golden_journal_of_each_version_verifies_and_reads_the_same() {
    for version in 1..=RECORD_VERSION {
        golden(&format!("v{version}")).await;
    }
}

async fn golden(name: &str) {
    let dir = Dir::new();
    std::fs::create_dir_all(dir.path().parent().unwrap()).unwrap();
    for extension in ["sqlite", "head"] {
        let golden = Path::new(FOLDER).join(name).with_extension(extension);
        std::fs::copy(golden, dir.path().with_extension(extension)).unwrap();
    }
    let journal = dir.open().await;
    let report = journal.verify().await.unwrap();
    assert!(report.ok, "{report:?}");
    let records = journal.records(RecordFilter::default()).await.unwrap();
    let lines = std::fs::read_to_string(Path::new(FOLDER).join(format!("{name}.jsonl"))).unwrap();
    assert_eq!(records.len(), lines.lines().count());
    for (record, line) in records.iter().zip(lines.lines()) {
        assert_eq!(serde_json::to_string(record).unwrap(), line);
    }
    fill(&journal).await;
    assert_eq!(journal.verify().await.unwrap().records, records.len() as u64 + 10);
    for run in 1..=5 {
        let _ = journal.run_state(&run_id(run)).await.unwrap();
    }
}

/// A run that waits, gets each kind of decision, is claimed, and has a call in doubt resolved.
async fn fill_with_what_version_3_knows(journal: &SqliteJournal) {
    let hash = ContentHash::of(b"function run() end");
    let rules = vec![RuleReference { name: "mail".into(), hash: ContentHash::of(b"rule") }];
    let asked = |number: u64| EventBody::ApprovalRequested {
        approval_id: format!("run:{number}:0123456789abcdef"),
        call_id: CallId::single(number),
        tool: "send_email".into(),
        effect: Effect::Send,
        line: Some(2),
        arguments: json!({"to": "a@example.com"}),
        arguments_hash: ContentHash::of(b"arguments"),
        plan_hash: hash.clone(),
        tier: Tier::Prompt.into(),
        rules: rules.clone(),
        reason: "mail leaves the machine".into(),
        origins: json!({"arguments": {"to": ["context.to"]}, "decided_by": []}),
        tool_hash: Some(ContentHash::of(b"tool")),
    };
    let resolved = |number: u64, decision: DecisionKind| EventBody::ApprovalResolved {
        approval_id: format!("run:{number}:0123456789abcdef"),
        call_id: CallId::single(number),
        tool: "send_email".into(),
        plan_hash: hash.clone(),
        arguments_hash: ContentHash::of(b"arguments"),
        decision: decision.into(),
        by: "local".into(),
        arguments: (decision == DecisionKind::Edit).then(|| json!({"to": "b@example.com"})),
        reason: (decision == DecisionKind::Deny).then(|| "no".into()),
        grant_id: (decision == DecisionKind::For).then(|| "grant".into()),
        goes_on: false,
        os_user: None,
    };
    let begun = EventBody::ToolCallStarted {
        call_id: CallId::single(1),
        tool: "send_email".into(),
        effect: Effect::Send,
        arguments: json!({"to": "b@example.com"}),
        arguments_hash: ContentHash::of(b"edited"),
        line: Some(2),
        idempotency_key: "key".into(),
        rule: Some("mail".into()),
        allowed_by: Some("approval:run:1:0123456789abcdef".into()),
        planned_arguments_hash: Some(ContentHash::of(b"arguments")),
        untrusted_ways: Vec::new(),
        waited_ms: None,
    };
    let mut start = started("mail them");
    if let EventBody::RunStarted { tenant, mode, owner, .. } = &mut start {
        *tenant = Some("local".into());
        *mode = Some(Mode::Structured.into());
        *owner = Some("01890a5d-ac96-774b-bcce-b302099a8057".into());
    }
    let bodies = vec![
        start,
        EventBody::PlanProposed {
            round: 0,
            source: "function run() end".into(),
            plan_hash: hash.clone(),
            explanation: None,
            influenced_by: Vec::new(),
        },
        EventBody::PlanAccepted { plan_hash: hash.clone(), calls_before: 0, steps: Vec::new() },
        asked(1),
        asked(2),
        asked(3),
        EventBody::RunPaused {
            reason: "3 calls wait for a person's approval".into(),
            calls_in_doubt: Vec::new(),
            approvals: vec!["run:1:0123456789abcdef".into()],
            questions: Vec::new(),
            answer_by: None,
            by: None,
            os_user: None,
        },
        resolved(1, DecisionKind::Edit),
        resolved(2, DecisionKind::Deny),
        resolved(3, DecisionKind::For),
        EventBody::GrantIssued {
            grant_id: "grant".into(),
            approval_id: "run:3:0123456789abcdef".into(),
            tool: "send_email".into(),
            rules: rules.clone(),
            tenant: "local".into(),
            expires_at: Timestamp::from_second(1_700_003_600).unwrap(),
            by: "local".into(),
            tier: Some(Tier::Prompt.into()),
            tool_hash: Some(ContentHash::of(b"tool")),
            os_user: None,
        },
        EventBody::GrantRevoked {
            grant_id: "grant".into(),
            tool: "send_email".into(),
            by: "local".into(),
            os_user: None,
        },
        resumed(0),
        begun,
        EventBody::RunPaused {
            reason: "call 1 may or may not have taken effect".into(),
            calls_in_doubt: vec![CallId::single(1)],
            approvals: Vec::new(),
            questions: Vec::new(),
            answer_by: None,
            by: None,
            os_user: None,
        },
        EventBody::CallResolved {
            call_id: CallId::single(1),
            resolution: ResolutionKind::Done.into(),
            result: Some(json!({"delivered": true})),
            message: None,
            by: None,
            os_user: None,
        },
        resumed(1),
        finished(),
    ];
    for (second, body) in bodies.into_iter().enumerate() {
        let second = 10 + i64::try_from(second).unwrap();
        journal.append(event(3, second, body), Durability::Forced).await.unwrap();
    }
}

/// The run of an agent, called by run 3, that works autonomously, sleeps and calls an agent itself.
async fn fill_with_what_version_4_knows(journal: &SqliteJournal) {
    let hash = ContentHash::of(b"function run() end");
    let mut start = started("wait for it");
    if let EventBody::RunStarted { parent_run_id, parent_call_id, agent, .. } = &mut start {
        *parent_run_id = Some(run_id(3));
        *parent_call_id = Some(CallId::single(2));
        *agent = Some("waiter".into());
    }
    let begun = EventBody::ToolCallStarted {
        call_id: CallId::single(1),
        tool: "sleep".into(),
        effect: Effect::Read,
        arguments: json!({"seconds": 3600}),
        arguments_hash: ContentHash::of(b"arguments"),
        line: Some(2),
        idempotency_key: "key".into(),
        rule: None,
        allowed_by: None,
        planned_arguments_hash: None,
        untrusted_ways: Vec::new(),
        waited_ms: None,
    };
    let wake_at = Timestamp::from_second(1_700_003_600).unwrap();
    let bodies = vec![
        start,
        EventBody::PlanProposed {
            round: 0,
            source: "function run() end".into(),
            plan_hash: hash.clone(),
            explanation: None,
            influenced_by: Vec::new(),
        },
        EventBody::Iteration {
            iteration: 1,
            iterations_max: 4,
            plan_hash: hash.clone(),
            done: None,
            observation: None,
        },
        EventBody::PlanAccepted { plan_hash: hash.clone(), calls_before: 0, steps: Vec::new() },
        begun,
        EventBody::SleepBegun { call_id: CallId::single(1), tool: "sleep".into(), wake_at },
        EventBody::AgentStarted {
            call_id: CallId::single(2),
            agent: "other".into(),
            child_run_id: run_id(5),
        },
        EventBody::RunSleeping { wake_at },
    ];
    for (second, body) in bodies.into_iter().enumerate() {
        let second = 40 + i64::try_from(second).unwrap();
        journal.append(event(4, second, body), Durability::Forced).await.unwrap();
    }
}

/// A run that held secrets: in its context, in what it asked for and in what it was answered.
async fn fill_with_what_version_5_knows(journal: &SqliteJournal) {
    let mut start = started("read it");
    if let EventBody::RunStarted { context, .. } = &mut start {
        *context = json!({"note": "[redacted]", "other": "the text [redacted]"});
    }
    let mut asked = call(1, "fetch_url");
    if let EventBody::ToolCallStarted { arguments, .. } = &mut asked {
        *arguments = json!({"headers": {"authorization": "[redacted]"}});
    }
    let mut told = answered(1, "fetch_url", true);
    if let EventBody::ToolCallFinished { result, .. } = &mut told {
        *result = Some(json!({"a/b": ["[redacted]"]}));
    }
    let reason = "a secret stood in the context it began with, which is not in the journal".to_owned();
    let code = ErrorCode::RunNotResumable.into();
    let bodies = [
        (start, vec!["/context/note"]),
        (EventBody::RunNotResumable { code, reason, call_id: None }, Vec::new()),
        (asked, vec!["/arguments/headers/authorization"]),
        (told, vec!["/result/a~1b/0"]),
        (finished(), Vec::new()),
    ];
    for (second, (body, redacted)) in bodies.into_iter().enumerate() {
        let mut event = event(5, 60 + i64::try_from(second).unwrap(), body);
        event.redacted = redacted.into_iter().map(str::to_owned).collect();
        journal.append(event, Durability::Forced).await.unwrap();
    }
}

#[tokio::test]
async fn a_run_of_version_5_folds_to_what_it_was() {
    let dir = Dir::new();
    std::fs::create_dir_all(dir.path().parent().unwrap()).unwrap();
    for extension in ["sqlite", "head"] {
        let golden = Path::new(FOLDER).join("v5").with_extension(extension);
        std::fs::copy(golden, dir.path().with_extension(extension)).unwrap();
    }
    let state = dir.open().await.run_state(&run_id(5)).await.unwrap().unwrap();
    assert_eq!(state.redacted, ["/context/note"]);
    assert!(state.not_resumable.unwrap().starts_with("a secret stood in the context"));
    assert_eq!(state.calls[0].redacted, ["/arguments/headers/authorization", "/result/a~1b/0"]);
    assert!(state.calls[0].result_held_secret());
}

#[tokio::test]
async fn a_run_of_version_4_folds_to_what_it_was() {
    let dir = Dir::new();
    std::fs::create_dir_all(dir.path().parent().unwrap()).unwrap();
    for extension in ["sqlite", "head"] {
        let golden = Path::new(FOLDER).join("v4").with_extension(extension);
        std::fs::copy(golden, dir.path().with_extension(extension)).unwrap();
    }
    let journal = dir.open().await;
    let state = journal.run_state(&run_id(4)).await.unwrap().unwrap();
    let wake_at = Timestamp::from_second(1_700_003_600).unwrap();
    assert_eq!((state.status, state.wake_at), (RunStatus::Sleeping, Some(wake_at)));
    assert_eq!(state.calls[0].wake_at, Some(wake_at));
    let parent = state.parent.unwrap();
    assert_eq!((parent.run_id, parent.agent.as_str()), (run_id(3), "waiter"));
    let filter = RunFilter { status: Some(RunStatus::Sleeping), ..RunFilter::default() };
    let listed = journal.runs(filter).await.unwrap();
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0].wake_at, Some(wake_at));
}

#[tokio::test]
async fn a_run_of_version_3_folds_to_what_it_was() {
    let dir = Dir::new();
    std::fs::create_dir_all(dir.path().parent().unwrap()).unwrap();
    for extension in ["sqlite", "head"] {
        let golden = Path::new(FOLDER).join("v3").with_extension(extension);
        std::fs::copy(golden, dir.path().with_extension(extension)).unwrap();
    }
    let state = dir.open().await.run_state(&run_id(3)).await.unwrap().unwrap();
    let decided = |asked: &ApprovalState| asked.decision.as_ref()?.decision.known();
    let decisions: Vec<DecisionKind> = state.approvals.iter().filter_map(decided).collect();
    assert_eq!(decisions, [DecisionKind::Edit, DecisionKind::Deny, DecisionKind::For]);
    assert_eq!((state.resumptions, state.calls.len(), &state.mode), (2, 1, &Some(Mode::Structured.into())));
    assert_eq!(state.calls[0].recorded_hash(), ContentHash::of(b"arguments"));
    assert_eq!(state.pending_approvals().count(), 0);
    assert_eq!(state.calls_in_doubt().count(), 0);
}

#[tokio::test]
async fn hashes_can_be_checked_by_another_program_from_the_description() {
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    let rows = sqlx::query("SELECT sequence, version, body, previous_hash, hash FROM records")
        .fetch_all(&mut dir.raw().await)
        .await
        .unwrap();
    assert_eq!(rows.len(), 10);
    for row in rows {
        let (sequence, version): (u64, u32) = (row.get(0), row.get(1));
        assert_eq!(described_hash(row.get(3), sequence, version, row.get(2)), row.get::<String, _>(4));
    }
}
