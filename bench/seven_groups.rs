//! The seven pieces of work as groups `w1` to `w7`, each with its reference.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use criterion::{BatchSize, Criterion};
use luaplan::base::Value;
use luaplan::engine::{DriveRequest, drive};
use luaplan::journal::{JournalWrite, MemoryJournal};
use luaplan::sandbox::VmPool;

use crate::parts::{Answers, World, bare_lua, empty_object, options, request, runtime, vm};
use crate::{context, round_trip, seven, ten_calls};

/// Few enough at once to stay in the processor's caches.
const BATCH: BatchSize = BatchSize::NumIterations(8);
const POOLED: usize = 8;
/// The wall limit of W7.
const WALL: Duration = Duration::from_millis(5);

pub(crate) fn bench(criterion: &mut Criterion) {
    let answers = Answers::new();
    w1(criterion, &answers);
    w2(criterion, &answers);
    w3(criterion, &answers);
    w4(criterion, &answers);
    w5(criterion, &answers);
    w7(criterion);
}

fn w1(criterion: &mut Criterion, answers: &Answers) {
    let mut group = criterion.benchmark_group("w1");
    let context = empty_object();
    group.bench_function("everything", |bencher| {
        bencher.iter(|| black_box(seven::run(seven::W1, &context, answers)));
    });
    let pool = VmPool::new(options(), POOLED);
    group.bench_function("critical_path", |bencher| {
        let run = |()| seven::run_pooled(&pool, seven::W1, &context, answers);
        bencher.iter_batched(|| pool.refill().unwrap(), run, BATCH);
    });
    group.bench_function("engine_critical_path", |bencher| {
        bencher.iter_custom(|runs| driven(seven::W1, answers, runs));
    });
    group.bench_function("reference_bare_lua", |bencher| {
        bencher.iter(|| black_box(bare::<i64>(&bare_lua(), seven::W1)));
    });
    group.finish();
}

fn w2(criterion: &mut Criterion, answers: &Answers) {
    let mut group = criterion.benchmark_group("w2");
    let context = empty_object();
    group.bench_function("everything", |bencher| {
        bencher.iter(|| black_box(seven::run(seven::W2, &context, answers)));
    });
    let pool = VmPool::new(options(), POOLED);
    group.bench_function("critical_path", |bencher| {
        let run = |()| seven::run_pooled(&pool, seven::W2, &context, answers);
        bencher.iter_batched(|| pool.refill().unwrap(), run, BATCH);
    });
    group.bench_function("engine_critical_path", |bencher| {
        bencher.iter_custom(|runs| driven(seven::W2, answers, runs));
    });
    group.bench_function("reference_bare_lua", |bencher| {
        bencher.iter(|| {
            let lua = bare_lua();
            lua.load(ten_calls::TOOLS_IN_LUA).exec().unwrap();
            black_box(bare::<mlua::Table>(&lua, seven::W2));
        });
    });
    group.finish();
}

/// Whole runs as the engine drives them: VMs kept ready, a log in memory, calls answered at once. The
/// pool is filled between runs, outside the measured time.
pub(crate) fn driven(source: &str, answers: &Answers, runs: u64) -> Duration {
    let (world, vms) = (World::new(), VmPool::new(options(), POOLED));
    let journal: Arc<dyn JournalWrite> = Arc::new(MemoryJournal::default());
    let (plan, log) = (world.plan(source), world.log(&journal));
    runtime().block_on(async {
        let mut took = Duration::ZERO;
        // Two more: from the third run on the plan is loaded from its bytecode.
        for run in 0..runs + 2 {
            if vms.ready() == 0 {
                vms.refill().unwrap();
            }
            let request = DriveRequest { vms: Some(vms.clone()), ..request(&plan) };
            let started = Instant::now();
            drive(request, answers, &log).await.result.unwrap();
            if run >= 2 {
                took += started.elapsed();
            }
        }
        took
    })
}

fn w3(criterion: &mut Criterion, answers: &Answers) {
    let mut group = criterion.benchmark_group("w3");
    group.bench_function("call", |bencher| {
        bencher.iter_custom(|calls| {
            let context = seven::calls(calls);
            let vm = vm();
            let started = Instant::now();
            seven::run_in(vm, seven::W3, &context, answers);
            started.elapsed()
        });
    });
    group.bench_function("reference_bare_coroutine", |bencher| bencher.iter_custom(round_trip::bare));
    group.finish();
}

fn w4(criterion: &mut Criterion, answers: &Answers) {
    let mut group = criterion.benchmark_group("w4");
    group.sample_size(10).measurement_time(Duration::from_secs(2));
    let context = empty_object();
    for (name, source) in seven::W4 {
        group.bench_function(name, |bencher| {
            bencher.iter_batched(vm, |vm| seven::run_in(vm, source, &context, answers), BATCH);
        });
        group.bench_function(format!("reference_bare_lua_{name}"), |bencher| {
            bencher.iter_batched(bare_lua, |lua| drop(bare::<mlua::Value>(&lua, source)), BATCH);
        });
    }
    group.finish();
}

fn w5(criterion: &mut Criterion, answers: &Answers) {
    let text = context::document().to_json().to_string();
    let mut group = criterion.benchmark_group("w5");
    group.sample_size(15);
    group.bench_function("text_in_and_out", |bencher| {
        bencher.iter(|| black_box(seven::text_in_and_out(&text, answers)));
    });
    group.bench_function("reference_serde_json", |bencher| {
        bencher.iter(|| black_box(serde_json::from_str::<serde_json::Value>(&text).unwrap().to_string()));
    });
    group.bench_function("reference_bare_lua", |bencher| {
        bencher.iter(|| {
            let lua = bare_lua();
            let value = Value::from_json_text(&text).unwrap();
            lua.load(seven::W5).exec().unwrap();
            let run: mlua::Function = lua.globals().get("run").unwrap();
            let result: mlua::Value = run.call(context::to_lua(&lua, &value)).unwrap();
            black_box(context::from_lua(&result).to_json().to_string())
        });
    });
    group.finish();
}

fn w7(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("w7");
    group.sample_size(10);
    group.bench_function("interrupt_to_end", |bencher| {
        bencher.iter_custom(|times| (0..times).map(|_| seven::interrupted(WALL)).sum());
    });
    group.finish();
}

/// Runs a plan in stock Lua.
fn bare<R: mlua::FromLuaMulti>(lua: &mlua::Lua, source: &str) -> R {
    lua.load(source).exec().unwrap();
    let run: mlua::Function = lua.globals().get("run").unwrap();
    run.call(lua.create_table().unwrap()).unwrap()
}
