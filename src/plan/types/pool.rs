//! Threads for the analysis. It calls itself as deep as the plan is nested, which a runtime's
//! threads have no room for, and what it costs on a hostile plan is bounded by nobody else.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use super::analysis::Analyses;
use super::question::{Question, Verdict};

/// Room for the deepest tree the check lets through, several times over.
const STACK_BYTES: usize = 128 * 1024 * 1024;
/// Threads kept with what they know.
const IDLE_MAX: usize = 4;
/// The longest an answer is waited for. Plans take milliseconds.
const ANSWER_MAX: Duration = Duration::from_secs(10);
/// Threads that did not answer in time, at most; after that no plan is analysed any more.
const LOST_MAX: usize = 4;

struct Job {
    question: Question,
    reply: SyncSender<Vec<Verdict>>,
}

static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());
static LOST: AtomicUsize = AtomicUsize::new(0);

/// The findings on one plan; nothing where the analysis failed or took too long.
pub(super) fn ask(question: Question) -> Option<Vec<Verdict>> {
    if LOST.load(Ordering::Relaxed) >= LOST_MAX {
        return None;
    }
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let thread = match idle {
        Some(thread) => thread,
        None => start()?,
    };
    let (reply, answer) = sync_channel(1);
    thread.send(Job { question, reply }).ok()?;
    match answer.recv_timeout(ANSWER_MAX) {
        Ok(verdicts) => {
            let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
            if idle.len() < IDLE_MAX {
                idle.push(thread);
            }
            Some(verdicts)
        }
        Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
            LOST.fetch_add(1, Ordering::Relaxed);
            None
        }
        Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => None,
    }
}

fn start() -> Option<Sender<Job>> {
    let (sender, jobs) = channel();
    let builder = std::thread::Builder::new().name("plan-types".to_owned()).stack_size(STACK_BYTES);
    builder.spawn(move || work(&jobs)).ok()?;
    Some(sender)
}

fn work(jobs: &Receiver<Job>) {
    let mut analyses = Analyses::default();
    while let Ok(Job { question, reply }) = jobs.recv() {
        let Ok(verdicts) = catch_unwind(AssertUnwindSafe(|| analyses.answer(&question))) else {
            // What it knows may be half done; the next check begins with a new thread.
            return;
        };
        let _ = reply.send(verdicts);
    }
}
