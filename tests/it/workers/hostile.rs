//! Workers that die, hang, lie or talk nonsense: each is its own run's error, in time, and leaves
//! nothing behind.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use luaplan::base::ErrorCode;
use luaplan::engine::RunOutcome;
use luaplan::workers::{WorkerPool, WorkerProgram};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{Wanted, broken_program, eventually, limits, pool, settings};

const LOOPS: &str = "function run() while true do end end";

/// The children of this process, dead ones without a wait among them. Other tests of
/// this process have workers too, so each looks for its own by what `is_it` sees in `/proc`.
fn children(is_it: impl Fn(&str) -> bool) -> Vec<i32> {
    let own = std::process::id();
    let mut found = Vec::new();
    for task in std::fs::read_dir(format!("/proc/{own}/task")).unwrap().flatten() {
        let list = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        found.extend(list.split_whitespace().filter(|id| is_it(id)).map(|id| id.parse::<i32>().unwrap()));
    }
    found
}

/// Whether a process was started with this memory limit, which each test has for itself.
fn has_memory(id: &str, bytes: u64) -> bool {
    let command = std::fs::read(format!("/proc/{id}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&command).split('\0').any(|word| word == format!("--memory-bytes={bytes}"))
}

/// Whether a process, dead or alive, runs the program of this file name.
fn is_program(id: &str, name: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.contains(&format!("({name})"))
}

fn own_memory_bytes() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(65 << 20);
    NEXT.fetch_add(4_096, Ordering::Relaxed)
}

async fn worker_of_a_looping_run(
    pool: &WorkerPool,
    wall: Duration,
) -> (tokio::task::JoinHandle<RunOutcome>, i32) {
    let mut wanted = Wanted::new(LOOPS, Some(pool.clone()));
    wanted.limits.wall = wall;
    wanted.limits.instructions = u64::MAX / 2;
    let memory_bytes = own_memory_bytes();
    wanted.limits.memory_bytes = memory_bytes;
    let run = tokio::spawn(wanted.run());
    let mut worker = 0;
    eventually("the plan computes", || {
        let own = children(|id| has_memory(id, memory_bytes));
        worker = own.into_iter().find(|id| computes(*id)).unwrap_or(0);
        worker != 0
    })
    .await;
    (run, worker)
}

/// Whether a process has used some tens of milliseconds of processor time.
fn computes(id: i32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    let user_ticks = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(11)?.parse::<u64>().ok());
    user_ticks.unwrap_or(0) >= 5
}

async fn next_run_is_clean(pool: &WorkerPool) {
    let next = Wanted::new("function run() return 42 end", Some(pool.clone())).run().await;
    assert_eq!(next.result.unwrap(), luaplan::base::Value::Integer(42));
}

async fn is_reaped(worker: i32) {
    eventually("the worker is gone, not even a zombie is left", || {
        kill(Pid::from_raw(worker), None).is_err()
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_killed_is_the_error_of_its_run_alone() {
    let pool = pool();
    let (run, worker) = worker_of_a_looping_run(&pool, Duration::from_secs(60)).await;
    kill(Pid::from_raw(worker), Signal::SIGKILL).unwrap();
    let error = run.await.unwrap().error().unwrap();
    assert_eq!(error.code(), ErrorCode::WorkerCrashed);
    assert_eq!(error.details()["signal"], "SIGKILL");
    next_run_is_clean(&pool).await;
    is_reaped(worker).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_hangs_is_ended_at_the_wall_limit() {
    let pool = pool();
    let (run, worker) = worker_of_a_looping_run(&pool, Duration::from_secs(2)).await;
    // Stopped repeatedly from outside: it cannot act on its interrupt.
    let holding = tokio::spawn(async move {
        while kill(Pid::from_raw(worker), Signal::SIGSTOP).is_ok() {
            tokio::time::sleep(Duration::from_micros(200)).await;
        }
    });
    let outcome = run.await.unwrap();
    let error = outcome.error().unwrap();
    assert_eq!(error.code(), ErrorCode::LimitWallTime, "{error}");
    assert_eq!(error.limit(), Some(&serde_json::json!(2_000)));
    assert!(error.observed().unwrap().as_u64().unwrap() >= 2_000);
    is_reaped(worker).await;
    holding.await.unwrap();
    next_run_is_clean(&pool).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn workers_that_talk_nonsense_too_much_or_nothing_are_refused() {
    let cases = [
        ("garbage", ErrorCode::WorkerProtocol, ""),
        ("huge", ErrorCode::WorkerProtocol, "4294967295"),
        ("gone", ErrorCode::WorkerCrashed, "ended by itself"),
    ];
    for (word, code, part) in cases {
        let (_folder, program) = broken_program(word);
        let pool = WorkerPool::new(settings(WorkerProgram::at(program)));
        let error = Wanted::new(LOOPS, Some(pool)).run().await.error().unwrap();
        assert_eq!(error.code(), code, "{word}: {error}");
        assert!(error.message().contains(part), "{word}: {error}");
        eventually("no process is left", || children(|id| is_program(id, word)).is_empty()).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_never_says_a_word_costs_the_run_its_wall_limit() {
    let (_folder, program) = broken_program("silent");
    let pool = WorkerPool::new(settings(WorkerProgram::at(program)));
    let mut wanted = Wanted::new(LOOPS, Some(pool));
    wanted.limits = luaplan::base::Limits { wall: Duration::from_millis(300), ..limits() };
    let error = wanted.run().await.error().unwrap();
    assert_eq!(error.code(), ErrorCode::LimitWallTime, "{error}");
    assert_eq!(error.limit(), Some(&serde_json::json!(300)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_is_not_there_is_named() {
    let pool = WorkerPool::new(settings(WorkerProgram::at("/nowhere/luaplan")));
    let error = Wanted::new(LOOPS, Some(pool)).run().await.error().unwrap();
    assert_eq!(error.code(), ErrorCode::WorkerUnavailable, "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ready_worker_that_was_killed_is_replaced_unseen() {
    let mut own = settings(WorkerProgram::at(env!("CARGO_BIN_EXE_luaplan")));
    let memory_bytes = own_memory_bytes();
    own.prepared.limits.memory_bytes = memory_bytes;
    let pool = WorkerPool::new(own);
    pool.keep_ready();
    eventually("one is ready", || pool.ready() == 1).await;
    let ready = children(|id| has_memory(id, memory_bytes));
    assert!(!ready.is_empty());
    for id in ready {
        kill(Pid::from_raw(id), Signal::SIGKILL).unwrap();
    }
    tokio::time::sleep(Duration::from_millis(50)).await;
    next_run_is_clean(&pool).await;
    eventually("another is ready", || pool.ready() == 1).await;
}
