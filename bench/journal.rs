//! Whole runs of ten calls, journaled in a SQLite file: each in a task of its own, in a VM of a pool that is
//! filled meanwhile, as in a service that runs plans in its own process.

use std::sync::Arc;

use criterion::{Criterion, Throughput};
use futures::future::join_all;
use luaplan::base::{EngineKind, Isolation, Usage};
use luaplan::journal::{Durability, EventBody, JournalWrite, RunLog, SqliteJournal, StopReason};
use luaplan::plan::CheckedPlan;

use crate::parts::{World, runtime};
use crate::ten_calls::{SENDING, reading};

/// Concurrent runs.
const AT_ONCE: [u64; 2] = [1, 64];

/// `--once journaled COUNT`: so many reading runs, 64 at once, not flushed.
pub(crate) fn once(count: u64) {
    let runtime = runtime();
    let folder = tempfile::tempdir().unwrap();
    let journal = Arc::new(runtime.block_on(SqliteJournal::open(&folder.path().join("journal.db"))).unwrap());
    let (world, writer): (_, Arc<dyn JournalWrite>) = (Arc::new(World::with_ready_vms()), journal.clone());
    let plan = world.plan(&reading());
    let mut left = count;
    while left > 0 {
        let now = left.min(AT_ONCE[1]);
        runtime.block_on(many(&world, &plan, &writer, now, Durability::Ordered));
        left -= now;
    }
    runtime.block_on(journal.close());
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let runtime = runtime();
    let folder = tempfile::tempdir().unwrap();
    let journal = runtime.block_on(SqliteJournal::open(&folder.path().join("journal.db"))).unwrap();
    let journal = Arc::new(journal);
    let (world, writer): (_, Arc<dyn JournalWrite>) = (Arc::new(World::with_ready_vms()), journal.clone());
    let (reading, sending) = (world.plan(&reading()), world.plan(SENDING));
    let kinds = [
        ("unflushed_run", &reading, Durability::Ordered),
        ("reading_run", &reading, Durability::Forced),
        ("sending_run", &sending, Durability::Forced),
    ];
    let mut group = criterion.benchmark_group("journal");
    group.sample_size(15);
    for (name, plan, end) in kinds {
        for at_once in AT_ONCE {
            group.throughput(Throughput::Elements(at_once));
            group.bench_function(format!("{name}_{at_once}_at_once"), |bencher| {
                bencher.to_async(&runtime).iter(|| many(&world, plan, &writer, at_once, end));
            });
        }
    }
    group.finish();
    runtime.block_on(journal.close());
}

async fn many(
    world: &Arc<World>,
    plan: &CheckedPlan,
    journal: &Arc<dyn JournalWrite>,
    count: u64,
    end: Durability,
) {
    let runs = (0..count).map(|_| {
        let (world, plan, log) = (Arc::clone(world), plan.clone(), world.log(journal));
        tokio::spawn(async move { run(&world, &plan, log, end).await })
    });
    join_all(runs).await.into_iter().for_each(|ended| ended.unwrap());
}

/// A run with the application's events around a drive: 24 in all, for ten calls.
pub(crate) async fn run(world: &World, plan: &CheckedPlan, log: RunLog, end: Durability) {
    let started = EventBody::RunStarted {
        task: None,
        plan_hash: Some(plan.hash().clone()),
        plan_name: Some(plan.name().to_owned()),
        context: serde_json::json!({}),
        limits: serde_json::json!({}),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mocked: false,
        engine: Some(EngineKind::Mlua.into()),
        isolation: Some(Isolation::InProcess.into()),
        context_name: None,
        owner: None,
        tenant: None,
        mode: None,
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
    };
    log.emit(started, Durability::Ordered).await.unwrap();
    let (source, plan_hash) = (plan.source().to_owned(), plan.hash().clone());
    let proposed = EventBody::PlanProposed {
        round: 0,
        source,
        plan_hash: plan_hash.clone(),
        explanation: None,
        influenced_by: Vec::new(),
    };
    log.emit(proposed, Durability::Queued).await.unwrap();
    let checked = EventBody::PlanChecked { plan_hash, ok: true, findings: serde_json::json!([]) };
    log.emit(checked, Durability::Queued).await.unwrap();
    let result = world.drive(plan, &log).await.result.unwrap().to_json();
    let finished = EventBody::RunFinished {
        stop_reason: StopReason::Completed.into(),
        mode: None,
        result,
        usage: Usage::default(),
        iterations: None,
    };
    log.emit(finished, end).await.unwrap();
}
