//! `--peer WORK`: luaplan's side of the comparison in `peers/`. Prints one line of JSON: the value
//! in the work's unit and what the work answered.

use std::hint::black_box;
use std::time::{Duration, Instant};

use luaplan::base::Value;
use luaplan::sandbox::VmPool;
use serde_json::{Value as Json, json};

use crate::parts::{Answers, empty_object, options, vm};
use crate::ready::Works;
use crate::{context, seven, worker};

/// How long one work is repeated.
const MEASURE: Duration = Duration::from_millis(400);
/// Calls of one W3 run.
const CALLS: u64 = 50_000;
/// The wall limit of W7.
const WALL: Duration = Duration::from_millis(50);
/// Bare round trips through pipes.
const PIPES: u64 = 20_000;
/// Runs in workers, and calls of a W3 run there.
const WORKER_RUNS: usize = 50;
const WORKER_CALLS: u64 = 5_000;
/// Idle VMs held for W6.
const IDLE: u64 = 1_000;

/// Runs if the command line asks for it; says whether it did.
pub(crate) fn asked() -> bool {
    let arguments: Vec<String> = std::env::args().collect();
    let Some(at) = arguments.iter().position(|argument| argument == "--peer") else { return false };
    let is_worker = arguments.get(at + 1).is_some_and(|argument| argument == "worker");
    let at = if is_worker { at + 1 } else { at };
    let work = arguments.get(at + 1).unwrap();
    if is_worker {
        print(&in_worker(work));
        return true;
    }
    // The first VM of a process compiles the prelude.
    drop(vm());
    print(&measure(work, arguments.get(at + 2)));
    true
}

#[expect(clippy::print_stdout, reason = "the runner reads it")]
fn print(line: &Json) {
    println!("{line}");
}

fn measure(work: &str, document: Option<&String>) -> Json {
    let (answers, empty) = (Answers::new(), empty_object());
    match work {
        "document" => context::document().to_json(),
        "w1" => micros(|| seven::run(seven::W1, &empty, &answers)),
        "w1_warm" => pooled(seven::W1, &answers),
        "w2_warm" => pooled(seven::W2, &answers),
        "w2" => micros(|| seven::run(seven::W2, &empty, &answers)),
        "w3" => {
            let (vm, context) = (vm(), seven::calls(CALLS));
            let (spent, answer) = timed(|| seven::run_in(vm, seven::W3, &context, &answers));
            json!({ "value": spent.as_nanos() as f64 / CALLS as f64, "answer": answer.to_json() })
        }
        "w5" => {
            let text = std::fs::read_to_string(document.unwrap()).unwrap();
            let line = micros(|| Value::from(seven::text_in_and_out(&text, &answers)));
            let answer: Json = serde_json::from_str(line["answer"].as_str().unwrap()).unwrap();
            json!({ "value": line["value"].as_f64().unwrap() / 1e3, "answer": answer })
        }
        "w6" => json!({ "value": seven::idle_bytes(IDLE, vm) as f64 / IDLE as f64 / 1024.0 }),
        "w7" => json!({ "value": seven::interrupted(WALL).as_nanos() as f64 / 1e3 }),
        work => {
            let named = seven::W4.iter().find(|(name, _)| work.strip_prefix("w4_") == Some(*name));
            let (_, source) = named.unwrap_or_else(|| panic!("there is no work `{work}`"));
            for _ in 1..times().unwrap_or(1) {
                seven::run(source, &empty, &answers);
            }
            let vm = vm();
            let (spent, answer) = timed(|| seven::run_in(vm, source, &empty, &answers));
            json!({ "value": spent.as_nanos() as f64 / 1e6, "answer": answer.to_json() })
        }
    }
}

/// The works in a ready worker that serves this one run, as in `luaplan serve`.
fn in_worker(work: &str) -> Json {
    let (mut works, answers) = (Works::new(1), Answers::new());
    match work {
        "w1_warm" => runs_in_worker(&mut works, seven::W1, &answers),
        "w2_warm" => runs_in_worker(&mut works, seven::W2, &answers),
        "w3" => {
            let (spent, answer) = works.run(seven::W3, &seven::calls(WORKER_CALLS), &answers);
            let value = spent.as_nanos() as f64 / WORKER_CALLS as f64;
            json!({ "value": value, "answer": answer.to_json(), "calls": WORKER_CALLS })
        }
        "pipe" => json!({ "value": worker::bare(PIPES).as_nanos() as f64 / PIPES as f64 }),
        "w1" | "w2" => json!({ "absent": "a worker is kept ready: see the warm column" }),
        "w4_fib" | "w4_loop" | "w4_sort_numbers" | "w4_sort_strings" | "w4_concat" | "w4_join" => {
            let (_, source) = seven::W4.iter().find(|(name, _)| work.ends_with(name)).unwrap();
            let (spent, answer) = works.run(source, &empty_object(), &answers);
            json!({ "value": spent.as_nanos() as f64 / 1e6, "answer": answer.to_json() })
        }
        other => json!({ "absent": format!("{other} is measured in process") }),
    }
}

/// The median of some runs, in microseconds.
fn runs_in_worker(works: &mut Works, source: &str, answers: &Answers) -> Json {
    let mut runs: Vec<_> = (0..WORKER_RUNS).map(|_| works.run(source, &empty_object(), answers)).collect();
    runs.sort_by_key(|(spent, _)| *spent);
    let (median, answer) = &runs[WORKER_RUNS / 2];
    json!({ "value": median.as_nanos() as f64 / 1e3, "answer": answer.to_json() })
}

/// A run in a VM made beforehand, which is dropped outside the measured time.
fn pooled(source: &str, answers: &Answers) -> Json {
    let (pool, empty) = (VmPool::new(options(), 1), empty_object());
    warm(|| pool.refill().unwrap(), |()| seven::run_pooled(&pool, source, &empty, answers))
}

/// The median of one run in microseconds, repeated for a while after a tenth of it to warm up.
fn micros(run: impl Fn() -> Value) -> Json {
    warm(|| (), |()| run())
}

/// The same with a value made before each run, outside the measured time.
fn warm<T>(make: impl Fn() -> T, run: impl Fn(T) -> Value) -> Json {
    if let Some(times) = times() {
        return (0..times).map(|_| json!({ "answer": run(make()).to_json() })).last().unwrap();
    }
    let began = Instant::now();
    let mut samples: Vec<Duration> = Vec::new();
    loop {
        let made = make();
        let (spent, answer) = timed(|| run(made));
        if began.elapsed() > MEASURE / 10 || samples.is_empty() {
            samples.push(spent);
        }
        if began.elapsed() > MEASURE && samples.len() > 4 {
            samples.sort();
            let median = samples[samples.len() / 2];
            return json!({ "value": median.as_nanos() as f64 / 1e3, "answer": answer.to_json() });
        }
    }
}

/// For callgrind: the exact number of repetitions of each work.
#[expect(clippy::disallowed_methods, reason = "the peers take it the same way")]
fn times() -> Option<u32> {
    std::env::var("PEER_TIMES").ok().and_then(|times| times.parse().ok())
}

fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let started = Instant::now();
    let result = black_box(run());
    (started.elapsed(), result)
}
