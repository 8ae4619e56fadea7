//! One tool call: a table of one field out, a table of one field back.

use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion, Throughput};
use luaplan::journal::{JournalWrite, MemoryJournal};
use luaplan::sandbox::Step;

use crate::parts::{Answers, World, bare_lua, empty_object, runtime, vm};

const FOR_EVER: &str = "function run(context) while true do local got = noop({ n = 1 }) end end";

/// Calls of one run through the engine.
const CALLS: u64 = 100;

pub(crate) fn bench(criterion: &mut Criterion) {
    let answers = Answers::new();
    let mut group = criterion.benchmark_group("round_trip");
    group.bench_function("step", |bencher| bencher.iter_custom(|calls| step(&answers, calls)));
    group.bench_function("reference_bare_coroutine", |bencher| bencher.iter_custom(bare));
    group.throughput(Throughput::Elements(CALLS));
    let (runtime, world) = (runtime(), World::new());
    let source = format!("function run(context) for i = 1, {CALLS} do local got = noop({{ n = 1 }}) end end");
    let plan = world.plan(&source);
    group.bench_function("drive_bus_memory_journal_100_calls", |bencher| {
        bencher.to_async(&runtime).iter_batched(
            || -> Arc<dyn JournalWrite> { Arc::new(MemoryJournal::default()) },
            async |journal| world.drive(&plan, &world.log(&journal)).await.result.unwrap(),
            BatchSize::NumIterations(16),
        );
    });
    group.finish();
}

/// The time `calls` round trips take at the seam of the VM.
pub(crate) fn step(answers: &Answers, calls: u64) -> Duration {
    let mut step = vm().start(FOR_EVER, "plan.lua", &empty_object());
    let started = Instant::now();
    let mut left = calls;
    while left > 0 {
        step = match step {
            Step::Calls(pending) => {
                left -= 1;
                let outcomes = answers.all(&pending.calls);
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            other => panic!("{other:?}"),
        };
    }
    started.elapsed()
}

/// The same through a coroutine of stock Lua: a yield out, a resume back.
pub(crate) fn bare(calls: u64) -> Duration {
    let lua = bare_lua();
    let body = "while true do local got = coroutine.yield({ n = 1 }) end";
    let thread = lua.create_thread(lua.load(body).into_function().unwrap()).unwrap();
    let mut asked: mlua::Table = thread.resume(()).unwrap();
    let started = Instant::now();
    for _ in 0..calls {
        let n: i64 = asked.raw_get("n").unwrap();
        let answer = lua.create_table().unwrap();
        answer.raw_set("n", n).unwrap();
        asked = thread.resume(answer).unwrap();
    }
    started.elapsed()
}
