//! Worker processes against a bare pipe between two processes, and a trivial plan among a thousand
//! that loop.

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use criterion::Criterion;
use luaplan::base::Value;
use luaplan::sandbox::{EngineKind, VmOptions};
use luaplan::workers::{Pause, PoolSettings, WorkerPool, WorkerProgram, WorkerRun, WorkerStart};
use tokio::runtime::Runtime;

use crate::parts::{Answers, empty_object, options};
use crate::ten_calls;
use crate::vm::TRIVIAL;

/// The argument that makes this program the other end of a bare pipe.
const ECHO: &str = "--echo-of-the-benches";

/// Bytes of one message: about the size of a call or its answer.
const MESSAGE_BYTES: usize = 40;

const NOOP_FOR_EVER: &str = "function run(context) while true do local got = noop({ n = 1 }) end end";
const LOOPS: &str = "function run() while true do end end";

/// Echoes each message, if this process was started for that.
pub(crate) fn echoed() -> bool {
    if !std::env::args().any(|argument| argument == ECHO) {
        return false;
    }
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let mut message = [0; MESSAGE_BYTES];
    while input.read_exact(&mut message).is_ok() {
        output.write_all(&message).unwrap();
        output.flush().unwrap();
    }
    true
}

pub(crate) fn bench(criterion: &mut Criterion) {
    // One thread, so that what is measured is the exchange and not a hop between threads.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut group = criterion.benchmark_group("worker");
    group.bench_function("reference_bare_pipe_round_trip", |bencher| bencher.iter_custom(bare));
    group.bench_function("noop_call", |bencher| {
        bencher.iter_custom(|calls| runtime.block_on(noop_calls(calls)));
    });
    group.bench_function("return_42_in_a_ready_worker", |bencher| {
        bencher.iter_custom(|runs| runtime.block_on(runs_in_ready_workers(TRIVIAL, runs)));
    });
    let source = ten_calls::SENDING;
    group.bench_function("ten_calls_in_a_ready_worker", |bencher| {
        bencher.iter_custom(|runs| runtime.block_on(runs_in_ready_workers(source, runs)));
    });
    group.sample_size(10);
    group.bench_function("start_run_end", |bencher| {
        bencher.iter_custom(|runs| started_for_each(&runtime, runs));
    });
    group.finish();
}

fn echo() -> (Child, ChildStdin, ChildStdout) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .arg(ECHO)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let pipes = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    (child, pipes.0, pipes.1)
}

pub(crate) fn bare(rounds: u64) -> Duration {
    let (mut child, mut to, mut from) = echo();
    let mut message = [7; MESSAGE_BYTES];
    let mut round = || {
        to.write_all(&message).unwrap();
        from.read_exact(&mut message).unwrap();
    };
    round();
    let started = Instant::now();
    for _ in 0..rounds {
        round();
    }
    let took = started.elapsed();
    drop(to);
    child.wait().unwrap();
    took
}

fn pool(idle: usize, runs_per_worker: u32) -> WorkerPool {
    WorkerPool::new(PoolSettings {
        program: WorkerProgram::at(env!("CARGO_BIN_EXE_luaplan")),
        engine: EngineKind::Mlua,
        idle,
        max: 64,
        runs_per_worker,
        prepared: options(),
    })
}

fn start(source: &str) -> WorkerStart {
    WorkerStart {
        source: source.to_owned(),
        name: "plan.lua".to_owned(),
        context: empty_object(),
        calls_before: 0,
        run_started_s: None,
    }
}

async fn finish(run: &mut WorkerRun, source: &str, answers: &Answers) -> Value {
    let mut pause = run.start(start(source)).await;
    loop {
        pause = match pause {
            Pause::Calls { calls, .. } => run.answer(answers.all(&calls)).await,
            Pause::Wait { .. } => run.resume().await,
            Pause::Done(stopped) => return stopped.result.unwrap(),
        }
    }
}

async fn noop_calls(calls: u64) -> Duration {
    let answers = Answers::new();
    let mut run = pool(0, 1).take(&options()).await.unwrap();
    let mut pause = run.start(start(NOOP_FOR_EVER)).await;
    let started = Instant::now();
    for _ in 0..calls {
        let Pause::Calls { calls, .. } = pause else { panic!("{pause:?}") };
        pause = run.answer(answers.all(&calls)).await;
    }
    started.elapsed()
}

/// The time of runs with a ready worker: from taking it to the result.
async fn runs_in_ready_workers(source: &str, runs: u64) -> Duration {
    let (answers, options) = (Answers::new(), options());
    let pool = pool(1, 1);
    pool.keep_ready();
    let mut took = Duration::ZERO;
    for _ in 0..runs {
        while pool.ready() == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // The worker makes its VM meanwhile, and the previous one ends.
        tokio::time::sleep(Duration::from_millis(2)).await;
        let started = Instant::now();
        let mut run = pool.take(&options).await.unwrap();
        finish(&mut run, source, &answers).await;
        took += started.elapsed();
    }
    took
}

fn started_for_each(runtime: &Runtime, runs: u64) -> Duration {
    let (answers, options): (Answers, VmOptions) = (Answers::new(), options());
    let pool = pool(0, 1);
    let started = Instant::now();
    runtime.block_on(async {
        for _ in 0..runs {
            finish(&mut pool.take(&options).await.unwrap(), TRIVIAL, &answers).await;
        }
    });
    started.elapsed()
}

/// Concurrent loops, and trivial plans among them.
const LOOPING: usize = 1_000;
const TRIVIAL_RUNS: usize = 200;

/// The time of a trivial plan over HTTP, first alone and then while a thousand plans loop. Prints medians;
/// runs for `fairness` on the command line.
pub(crate) fn fairness() -> bool {
    if !std::env::args().any(|argument| argument == "fairness") {
        return false;
    }
    luaplan::llm::install_crypto_provider();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for isolation in ["in-process", "process"] {
        let folder = tempfile::tempdir().unwrap();
        let mut server = serve(folder.path(), isolation);
        let base = listening(&mut server);
        runtime.block_on(measure(isolation, &base));
        let _ = Command::new("kill").arg("-INT").arg(server.id().to_string()).status();
        std::thread::park_timeout(Duration::from_secs(1));
        server.kill().unwrap();
        server.wait().unwrap();
    }
    true
}

pub(crate) fn serve(folder: &std::path::Path, isolation: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_luaplan"));
    command.current_dir(folder).env_clear().env("HOME", folder).arg("serve").arg("--json");
    for setting in [
        "server.listen=127.0.0.1:0",
        "server.max_concurrent_runs=1100",
        "server.shutdown_grace=1ms",
        "limits.instructions=1000000000000000",
        "limits.wall=10m",
        &format!("sandbox.isolation={isolation}"),
    ] {
        command.args(["--set", setting]);
    }
    command.stdout(Stdio::piped()).spawn().unwrap()
}

pub(crate) fn listening(server: &mut Child) -> String {
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(server.stdout.as_mut().unwrap()), &mut line)
        .unwrap();
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    line["listening"].as_str().unwrap().to_owned()
}

#[expect(clippy::print_stderr, reason = "what was asked for")]
async fn measure(isolation: &str, base: &str) {
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let post = |plan: &str, wait: &str| {
        let body = serde_json::json!({ "plan": plan }).to_string();
        client
            .post(format!("{base}/v1/runs{wait}"))
            .header("content-type", "application/json")
            .body(body)
            .send()
    };
    for looping in [0, LOOPING] {
        for _ in 0..looping {
            assert_eq!(post(LOOPS, "").await.unwrap().status(), 202);
        }
        if looping > 0 {
            // Until all of them have started and had their first turns.
            tokio::time::sleep(Duration::from_secs(20)).await;
        }
        let mut times = Vec::new();
        for _ in 0..TRIVIAL_RUNS {
            let started = Instant::now();
            let answer = post(TRIVIAL, "?wait=60s").await.unwrap();
            assert_eq!(answer.status(), 200);
            times.push(started.elapsed());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        times.sort_unstable();
        eprintln!(
            "{isolation}, {looping} plans loop: median {:?}, 95th percentile {:?}, longest {:?}",
            times[times.len() / 2],
            times[times.len() * 95 / 100],
            times[times.len() - 1]
        );
    }
}
