//! The processes that the tests of `it` start: plans that may take a process down, runs that are killed, writers of one
//! journal. Built beside tests alone, and no test itself.

#![expect(clippy::unwrap_used, reason = "a process that cannot go on should stop and say where")]

mod determinism;
#[cfg(target_os = "linux")]
mod hostile;
mod journal;
#[cfg(unix)]
mod survival;

use std::io::Write as _;
use std::process::ExitCode;

/// What it ends with where its arguments ask for nothing it does.
const EXIT_USAGE: u8 = 2;

/// Writes a line to standard output, for the test that started this process.
fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    // The parent may be gone; then no one reads it.
    let _ = writeln!(out, "{text}");
    let _ = out.flush();
}

fn block_on<F: Future>(work: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["determinism", turned_by] => determinism::child(turned_by.parse().unwrap()),
        #[cfg(target_os = "linux")]
        ["hostile", jobs, worker] => hostile::child(jobs.as_ref(), worker.as_ref()),
        ["journal", file, run, times] => {
            block_on(journal::child(file.as_ref(), run.parse().unwrap(), times.parse().unwrap()));
        }
        #[cfg(unix)]
        ["survival", job] => block_on(survival::child(job.as_ref())),
        _ => {
            let _ = writeln!(std::io::stderr(), "only the tests of luaplan start this: {words:?}");
            return ExitCode::from(EXIT_USAGE);
        }
    }
    ExitCode::SUCCESS
}
