//! The cost of journaling for a call that reads.

use std::sync::Arc;

use async_trait::async_trait;
use criterion::{Criterion, Throughput};
use luaplan::base::Result;
use luaplan::journal::{
    ConflictGuard, Durability, Event, JournalWrite, MemoryJournal, Record, Settled, SqliteJournal,
};

use crate::parts::{World, runtime};

/// Reads in one run: enough to make its start and end negligible.
const READS: u64 = 100;

/// The cost of a read's records until they are written: a hundred reads on a journal in a file, against the same
/// with records that are made and dropped.
pub(crate) fn bench(criterion: &mut Criterion) {
    let (runtime, world) = (runtime(), World::new());
    let folder = tempfile::tempdir().unwrap();
    let journal = runtime.block_on(SqliteJournal::open(&folder.path().join("journal.db"))).unwrap();
    let journal = Arc::new(journal);
    let plan = format!("function run()\n  for n = 1, {READS} do noop(n) end\nend");
    let plan = world.plan(&plan);
    let mut group = criterion.benchmark_group("journaled_reads");
    group.throughput(Throughput::Elements(READS));
    let journals: [(&str, Arc<dyn JournalWrite>); 2] =
        [("reference_kept_nowhere", Arc::new(Nowhere)), ("kept_in_a_file", journal.clone())];
    for (name, journal) in journals {
        group.bench_function(name, |bencher| {
            bencher.to_async(&runtime).iter(async || {
                let log = world.log(&journal);
                world.drive(&plan, &log).await.result.unwrap();
                log.catch_up().await.unwrap();
            });
        });
    }
    group.finish();
    runtime.block_on(journal.close());
}

/// Drops each record at once.
struct Nowhere;

#[async_trait]
impl JournalWrite for Nowhere {
    async fn append(&self, event: Event, durability: Durability) -> Result<Record> {
        MemoryJournal::default().append(event, durability).await
    }

    async fn settle(&self, events: Vec<Event>, unless: ConflictGuard) -> Result<Settled> {
        MemoryJournal::default().settle(events, unless).await
    }
}
