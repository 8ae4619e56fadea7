//! Shared by the Rust peers: the tools' answers, and how each work is timed and printed.
//!
//! A peer's program is called with a work's name, and for W5 a file with the document, and prints
//! one line of JSON: the value in the work's unit and what the work answered.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long one work is repeated.
const MEASURE: Duration = Duration::from_millis(400);
/// Calls of one W3 run.
pub const CALLS: u64 = 50_000;
/// Idle VMs held for W6.
pub const IDLE: usize = 1_000;
/// The memory limit, where a peer has one.
pub const MEMORY_BYTES: usize = 512 << 20;
/// The wall limit of W7.
pub const WALL: Duration = Duration::from_millis(50);

/// The command line.
pub struct Asked {
    /// Which work.
    pub work: String,
    /// The document's text, for W5.
    pub document: String,
}

/// Reads the command line.
pub fn asked() -> Asked {
    let mut arguments = std::env::args().skip(1);
    let work = arguments.next().expect("usage: PEER WORK [DOCUMENT]");
    let document = arguments.next().map(|path| std::fs::read_to_string(path).expect("the document"));
    Asked { work, document: document.unwrap_or_default() }
}

/// The text of a work in a peer's language, for example `w2.lua`.
pub fn source(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../work").join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// What `query_db` answers: 100 rows of 5 fields.
pub fn rows() -> Value {
    let row = |id: i64| {
        json!({
            "id": id, "name": format!("User {id}"), "email": format!("user{id}@example.com"),
            "age": 20 + id % 50, "url": format!("https://example.com/users/{id}.html"),
        })
    };
    (1..=100).map(row).collect()
}

/// What `fetch_url` answers.
pub fn page() -> String {
    "The text of a page. ".repeat(50)
}

/// What `send_email` answers.
pub fn receipt() -> Value {
    json!({ "id": "receipt-1", "status": "accepted" })
}

/// Microseconds of one run: the median, repeated for a while after a tenth of it to warm up.
pub fn micros(run: impl FnMut() -> Value) -> Value {
    let mut run = run;
    warm(|| (), |()| run())
}

/// The same with a value made before each run, outside the measured time.
pub fn warm<T>(make: impl FnMut() -> T, run: impl FnMut(T) -> Value) -> Value {
    let (mut make, mut run) = (make, run);
    if let Some(times) = times() {
        return (0..times).map(|_| json!({ "answer": run(make()) })).last().expect("once");
    }
    let began = Instant::now();
    let mut samples = Vec::new();
    loop {
        let made = make();
        let started = Instant::now();
        let answer = black_box(run(made));
        let spent = started.elapsed();
        if began.elapsed() > MEASURE / 10 || samples.is_empty() {
            samples.push(spent);
        }
        if began.elapsed() > MEASURE && samples.len() > 4 {
            samples.sort();
            return json!({ "value": nanos(samples[samples.len() / 2]) / 1e3, "answer": answer });
        }
    }
}

/// One run of W3: nanoseconds a call.
pub fn per_call(run: impl Fn() -> Value) -> Value {
    let (spent, answer) = timed(run);
    json!({ "value": nanos(spent) / CALLS as f64, "answer": answer })
}

/// One run in milliseconds.
pub fn millis(run: impl Fn() -> Value) -> Value {
    let (spent, answer) = timed(run);
    json!({ "value": nanos(spent) / 1e6, "answer": answer })
}

/// W5: from the document's text to the plan and out as text again, in milliseconds.
pub fn text_in_and_out(run: impl Fn() -> String) -> Value {
    let line = micros(|| Value::String(run()));
    let answer: Value = serde_json::from_str(line["answer"].as_str().expect("a text")).expect("JSON");
    json!({ "value": line["value"].as_f64().unwrap_or_default() / 1e3, "answer": answer })
}

/// W6: KiB an idle VM, by the growth of the process.
pub fn idle<T>(make: impl Fn() -> T) -> Value {
    drop(make());
    let before = resident_kib();
    let held: Vec<T> = (0..IDLE).map(|_| make()).collect();
    let grown = resident_kib() - before;
    drop(held);
    json!({ "value": grown / IDLE as f64 })
}

/// W7: microseconds from the moment the wall limit is due to the end of the run. `run` gets the
/// moment it is due and returns when the run has been stopped.
pub fn stop(run: impl FnOnce(Instant)) -> Value {
    let due = Instant::now() + WALL;
    run(due);
    let ended = Instant::now();
    assert!(ended >= due, "stopped before its limit");
    json!({ "value": nanos(ended - due) / 1e3 })
}

/// Prints the line the runner reads.
pub fn print(line: &Value) {
    println!("{line}");
}

/// For callgrind: the exact number of repetitions of each work.
fn times() -> Option<u32> {
    std::env::var("PEER_TIMES").ok().and_then(|times| times.parse().ok())
}

fn timed<T>(run: impl Fn() -> T) -> (Duration, T) {
    for _ in 1..times().unwrap_or(1) {
        run();
    }
    let started = Instant::now();
    let result = black_box(run());
    (started.elapsed(), result)
}

fn nanos(time: Duration) -> f64 {
    time.as_nanos() as f64
}

fn resident_kib() -> f64 {
    let text = std::fs::read_to_string("/proc/self/smaps_rollup").expect("Linux");
    let line = text.lines().find_map(|line| line.strip_prefix("Rss:")).expect("Rss");
    line.trim().trim_end_matches("kB").trim().parse().expect("KiB")
}
