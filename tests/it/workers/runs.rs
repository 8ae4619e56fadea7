//! Plans in workers end as they do in this process.

use std::time::Duration;

use bytes::Bytes;
use luaplan::base::{ErrorCode, Value};
use luaplan::bus::Interruption;
use luaplan::workers::{WorkerPool, WorkerProgram};

use super::{Wanted, eventually, pool, settings};

/// Plans, each of them with the same end in both places.
const PLANS: &[&str] = &[
    "function run(context) return context end",
    "function run() print('a\\nb') return { 1, 2.5, 'x', '\\xff\\0', {}, json.object(), null } end",
    "function run() return query_db{ sql = 'a' } end",
    "function run() local r = parallel{ function() return query_db{ sql = 'a' } end, function() return query_db{ sql = 'b' } end } return r end",
    "function run() error('no') end",
    "function run() error({ code = 'mine', list = { 1 } }) end",
    "function run() while true do end end",
    "function run() local t = {} while true do t[#t + 1] = ('x'):rep(100000) end end",
    "function run() local function f() return f() + 1 end return f() end",
    "function run() return 0 / 0 end",
    "function run() return function() end end",
    "function run() for i = 1, 300 do query_db{ sql = 'q' } end end",
    "function run() while true do print('spam spam spam spam') end end",
];

#[tokio::test(flavor = "multi_thread")]
async fn results_errors_prints_and_usage_are_the_same_in_both_places() {
    let pool = pool();
    let context = || {
        Value::from_iter([
            ("z", Value::Integer(i64::MIN)),
            ("a", Value::Float(-0.0)),
            ("bytes", Value::Bytes(Bytes::from_static(b"\xff\x00\n"))),
            ("none", Value::Null),
            ("empty", Value::Array(Vec::new())),
        ])
    };
    for source in PLANS {
        let wanted = |workers| {
            let mut wanted = Wanted::new(source, workers);
            wanted.context = context();
            wanted.limits.instructions = 20_000_000;
            wanted.limits.call_depth = 150;
            wanted
        };
        let (here, there) = (wanted(None).run().await, wanted(Some(pool.clone())).run().await);
        match (&here.result, &there.result) {
            (Ok(one), Ok(other)) => assert_eq!(one, other, "{source}"),
            (Err(Interruption::Failed(one)), Err(Interruption::Failed(other))) => {
                assert_eq!(one.to_json(), other.to_json(), "{source}");
            }
            (one, other) => panic!("{source}: {one:?} here, {other:?} there"),
        }
        assert_eq!(here.printed, there.printed, "{source}");
        assert_eq!(here.usage.instructions, there.usage.instructions, "{source}");
        assert_eq!(here.usage.tool_calls, there.usage.tool_calls, "{source}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wall_limit_and_a_cancel_stop_a_loop_with_its_usage_known() {
    let pool = pool();
    for (after_cancel, code) in [(false, ErrorCode::LimitWallTime), (true, ErrorCode::Cancelled)] {
        let source = "function run() for _ = 1, 100000 do end sleep(0) while true do end end";
        let mut wanted = Wanted::new(source, Some(pool.clone()));
        wanted.limits.instructions = u64::MAX / 2;
        wanted.limits.wall = Duration::from_millis(if after_cancel { 600_000 } else { 3_000 });
        let (cancel, called) = (wanted.cancel.clone(), wanted.called.clone());
        let run = tokio::spawn(wanted.run());
        if after_cancel {
            called.notified().await;
            cancel.cancel();
        }
        let outcome = run.await.unwrap();
        let error = outcome.error().unwrap();
        assert_eq!(error.code(), code, "{error}");
        assert!(outcome.usage.instructions > 100_000, "{:?}", outcome.usage);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_large_value_goes_both_ways_and_one_that_cannot_fit_is_the_memory_limit() {
    let pool = pool();
    let mut wanted = Wanted::new("function run(context) return #context.text end", Some(pool.clone()));
    wanted.context = Value::from_iter([("text", "x".repeat(20 << 20))]);
    assert_eq!(wanted.run().await.result.unwrap(), Value::Integer(20 << 20));
    let mut wanted = Wanted::new("function run(context) return #context.text end", Some(pool));
    wanted.context = Value::from_iter([("text", "x".repeat(160 << 20))]);
    let error = wanted.run().await.error().unwrap();
    assert_eq!(error.code(), ErrorCode::LimitMemory, "{error}");
    assert!(error.observed().unwrap().as_u64().unwrap() > 160 << 20, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_may_serve_more_than_one_run_where_that_is_allowed() {
    let mut several = settings(WorkerProgram::at(env!("CARGO_BIN_EXE_luaplan")));
    several.runs_per_worker = 3;
    let pool = WorkerPool::new(several);
    let plan = "function run() seen = (seen or 0) + 1 return seen end";
    for _ in 0..7 {
        let outcome = Wanted::new(plan, Some(pool.clone())).run().await;
        assert_eq!(outcome.result.unwrap(), Value::Integer(1));
        assert!(pool.ready() <= 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_beyond_the_most_workers_wait_for_their_turn() {
    let mut one = settings(WorkerProgram::at(env!("CARGO_BIN_EXE_luaplan")));
    one.max = 1;
    let pool = WorkerPool::new(one);
    let runs: Vec<_> = (0..4)
        .map(|_| tokio::spawn(Wanted::new("function run() return 42 end", Some(pool.clone())).run()))
        .collect();
    for run in runs {
        assert_eq!(run.await.unwrap().result.unwrap(), Value::Integer(42));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn ready_workers_are_used_refilled_and_ended_with_their_pool() {
    let pool = pool();
    assert_eq!(pool.ready(), 0);
    pool.keep_ready();
    eventually("one is ready", || pool.ready() == 1).await;
    assert!(pool.confinement().await.unwrap().is_complete());
    let outcome = Wanted::new("function run() return 1 end", Some(pool.clone())).run().await;
    assert_eq!(outcome.result.unwrap(), Value::Integer(1));
    eventually("another is ready", || pool.ready() == 1).await;
    pool.close();
    assert_eq!(pool.ready(), 0);
}
