//! `held`: the memory of a service for suspended runs. Prints the memory of `luaplan serve` on a journal without
//! runs, and with a hundred thousand that are paused or asleep.

use std::path::Path;
use std::time::Duration;

use luaplan::app::App;
use luaplan::app::config::{Environment, LoadOptions, load};
use luaplan::base::{ContentHash, EngineKind, Isolation, RunId, SpanId, SystemRandomness, TraceId};
use luaplan::journal::{Durability, Event, EventBody, JournalWrite as _, Mode};

use crate::parts::runtime;
use crate::worker::{listening, serve};

const RUNS: usize = 100_000;

/// Runs written in one transaction.
const AT_ONCE: usize = 500;

const PLAN: &str = "function run(context)\n  sleep(86400)\n  return context\nend";

/// Runs if the command line asks for it; says whether it did.
#[expect(clippy::print_stderr, reason = "what was asked for")]
pub(crate) fn asked() -> bool {
    if !std::env::args().any(|argument| argument == "held") {
        return false;
    }
    let runtime = runtime();
    for (what, end) in [("none", None), ("paused", Some(paused())), ("sleeping", Some(sleeping()))] {
        let folder = tempfile::tempdir().unwrap();
        if let Some(end) = &end {
            runtime.block_on(fill(folder.path(), end));
        }
        let mut server = serve(folder.path(), "process");
        listening(&mut server);
        // Until it has read all of them, and for a while nothing changes.
        let (mut seen, mut same) = (0, 0);
        while same < 50 {
            std::thread::park_timeout(Duration::from_millis(100));
            let now = resident_kib(server.id());
            same = if now == seen { same + 1 } else { 0 };
            seen = now;
        }
        let runs = if end.is_some() { RUNS } else { 0 };
        eprintln!("{runs} runs, {what}: {:.1} MB resident", seen as f64 * 1024.0 / 1e6);
        server.kill().unwrap();
        server.wait().unwrap();
    }
    true
}

fn resident_kib(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

fn paused() -> EventBody {
    EventBody::RunPaused {
        reason: "waits".to_owned(),
        calls_in_doubt: Vec::new(),
        approvals: Vec::new(),
        questions: Vec::new(),
        answer_by: None,
        by: None,
        os_user: None,
    }
}

fn sleeping() -> EventBody {
    EventBody::RunSleeping { wake_at: "2200-01-01T00:00:00Z".parse().unwrap() }
}

/// Records of runs that started, were checked, and end with `end`.
async fn fill(folder: &Path, end: &EventBody) {
    let environment = Environment { working_dir: folder.to_path_buf(), ..Environment::default() };
    let app = App::open(&load(&environment, &LoadOptions::default()).unwrap(), &environment).await.unwrap();
    let hash = ContentHash::of(PLAN.as_bytes());
    let begun = [
        EventBody::RunStarted {
            task: None,
            plan_hash: Some(hash.clone()),
            plan_name: Some("plan".to_owned()),
            context: serde_json::json!({ "n": 1 }),
            limits: app.config().limits.to_json(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            mocked: false,
            engine: Some(EngineKind::Mlua.into()),
            isolation: Some(Isolation::Process.into()),
            context_name: None,
            owner: None,
            tenant: Some("local".to_owned()),
            mode: Some(Mode::Structured.into()),
            parent_run_id: None,
            parent_call_id: None,
            agent: None,
            starts_over: None,
            follows: None,
            approve: false,
            plan_only: false,
            planning: None,
            by: None,
            os_user: None,
        },
        EventBody::PlanProposed {
            round: 0,
            source: PLAN.to_owned(),
            plan_hash: hash.clone(),
            explanation: None,
            influenced_by: Vec::new(),
        },
        EventBody::PlanChecked { plan_hash: hash.clone(), ok: true, findings: serde_json::json!([]) },
        EventBody::PlanAccepted { plan_hash: hash, calls_before: 0, steps: Vec::new() },
    ];
    for _ in 0..RUNS / AT_ONCE {
        let runs = (0..AT_ONCE).flat_map(|_| {
            let run_id = RunId::generate();
            let trace_id = TraceId::generate(&SystemRandomness);
            let bodies = begun.iter().chain([end]).cloned();
            let events: Vec<Event> = bodies
                .map(|body| Event {
                    run_id: run_id.clone(),
                    trace_id: trace_id.clone(),
                    span_id: SpanId::generate(&SystemRandomness),
                    at: app.history().now(),
                    candidate: None,
                    redacted: Vec::new(),
                    body,
                })
                .collect();
            events.into_iter().map(|event| (event, Durability::Ordered))
        });
        app.journal().append_all(runs.collect()).await.unwrap();
    }
    app.journal().close().await;
}
