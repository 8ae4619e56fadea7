//! Whole runs of ten calls, journaled in a SQLite file.

use std::sync::Arc;

use criterion::{Criterion, Throughput};
use futures::future::join_all;
use luaplan::base::Usage;
use luaplan::journal::{Durability, EventBody, JournalWrite, SqliteJournal};
use luaplan::plan::CheckedPlan;

use crate::parts::{World, runtime};
use crate::ten_calls::{SENDING, reading};

/// Runs under way at once.
const AT_ONCE: [u64; 2] = [1, 64];

pub(crate) fn bench(criterion: &mut Criterion) {
    let (runtime, world) = (runtime(), Arc::new(World::new()));
    let folder = tempfile::tempdir().unwrap();
    let journal = runtime.block_on(SqliteJournal::open(&folder.path().join("journal.db"))).unwrap();
    let journal = Arc::new(journal);
    let writer: Arc<dyn JournalWrite> = journal.clone();
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
                bencher
                    .to_async(&runtime)
                    .iter(async || join_all((0..at_once).map(|_| run(&world, plan, &writer, end))).await);
            });
        }
    }
    group.finish();
    runtime.block_on(journal.close());
}

/// A run with the events the application writes around a drive: 24 in all.
async fn run(world: &World, plan: &CheckedPlan, journal: &Arc<dyn JournalWrite>, end: Durability) {
    let log = world.log(journal);
    let started = EventBody::RunStarted {
        task: None,
        plan_hash: Some(plan.hash().clone()),
        plan_name: Some(plan.name().to_owned()),
        context: serde_json::json!({}),
        limits: serde_json::json!({}),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        mocked: false,
        engine: Some("mlua".to_owned()),
        isolation: Some("in-process".to_owned()),
        context_name: None,
        owner: None,
        tenant: None,
        mode: None,
        parent_run_id: None,
        parent_call_id: None,
        agent: None,
    };
    log.emit(started, Durability::Ordered).await.unwrap();
    let (source, plan_hash) = (plan.source().to_owned(), plan.hash().clone());
    let proposed = EventBody::PlanProposed { round: 0, source, plan_hash: plan_hash.clone() };
    log.emit(proposed, Durability::Ordered).await.unwrap();
    let checked = EventBody::PlanChecked { plan_hash, ok: true, findings: serde_json::json!([]) };
    log.emit(checked, Durability::Ordered).await.unwrap();
    let result = world.drive(plan, &log).await.result.unwrap().to_json();
    let finished =
        EventBody::RunFinished { stop_reason: "completed".to_owned(), result, usage: Usage::default() };
    log.emit(finished, end).await.unwrap();
}
