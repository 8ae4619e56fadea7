//! A fresh VM, and the plan that does nothing.

use std::hint::black_box;
use std::sync::Arc;

use criterion::{BatchSize, Criterion};
use luaplan::base::Value;
use luaplan::journal::{JournalWrite, MemoryJournal};
use luaplan::sandbox::{Step, Vm, VmPool};

use crate::parts::{Answers, World, bare_lua, empty_object, finish, options, runtime, vm};

pub(crate) const TRIVIAL: &str = "function run(context) return 42 end";

/// Few enough at once to stay in the processor's caches.
const BATCH: BatchSize = BatchSize::NumIterations(8);

pub(crate) fn bench(criterion: &mut Criterion) {
    let answers = Answers::new();
    let mut group = criterion.benchmark_group("vm");
    group.bench_function("new", |bencher| {
        bencher.iter_batched(options, |options| Vm::new(options).unwrap(), BATCH);
    });
    group.bench_function("new_run_drop", |bencher| {
        bencher.iter(|| black_box(run_trivial(&answers)));
    });
    group.bench_function("warm_run_drop", |bencher| {
        let context = empty_object();
        bencher.iter_batched(
            vm,
            |vm| match vm.start(TRIVIAL, "plan.lua", &context) {
                Step::Done(stopped) => stopped.result.unwrap(),
                other => panic!("{other:?}"),
            },
            BATCH,
        );
    });
    group.bench_function("pooled_run", |bencher| {
        let (pool, context) = (VmPool::new(options(), 8), empty_object());
        bencher.iter_batched(
            || {
                pool.refill().unwrap();
                pool.take().unwrap()
            },
            |vm| match vm.start(TRIVIAL, "plan.lua", &context) {
                Step::Done(stopped) => stopped.result.unwrap(),
                other => panic!("{other:?}"),
            },
            BATCH,
        );
    });
    group.bench_function("reference_bare_lua_new_run_drop", |bencher| {
        bencher.iter(|| {
            let lua = bare_lua();
            lua.load(TRIVIAL).exec().unwrap();
            let run: mlua::Function = lua.globals().get("run").unwrap();
            black_box(run.call::<i64>(()).unwrap())
        });
    });
    group.finish();
    drive(criterion);
}

pub(crate) fn run_trivial(answers: &Answers) -> Value {
    finish(vm().start(TRIVIAL, "plan.lua", &empty_object()), answers)
}

fn drive(criterion: &mut Criterion) {
    let (runtime, world) = (runtime(), World::new());
    let journal: Arc<dyn JournalWrite> = Arc::new(MemoryJournal::default());
    let plan = world.plan(TRIVIAL);
    let mut group = criterion.benchmark_group("drive");
    group.bench_function("trivial", |bencher| {
        bencher
            .to_async(&runtime)
            .iter(async || world.drive(&plan, &world.log(&journal)).await.result.unwrap());
    });
    group.bench_function("reference_blocking_thread", |bencher| {
        bencher.to_async(&runtime).iter(async || tokio::task::spawn_blocking(|| 42).await.unwrap());
    });
    group.finish();
}
