//! Threads for the analysis. It calls itself as deep as the plan is nested, which other threads have no room for.
//!
//! An answer is waited for as long as it takes: [`super::bounded`] keeps plans away that would take long, and no clock
//! decides what is found.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::analysis::Analyses;
use super::question::{Question, Verdict};

/// Room for the deepest tree the check lets through, several times over.
const STACK_BYTES: usize = 128 * 1024 * 1024;
/// Threads kept with what they know.
const IDLE_MAX: usize = 4;

struct Job {
    question: Arc<Question>,
    reply: SyncSender<Vec<Verdict>>,
}

static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

/// The findings on one plan; nothing where the analysis failed.
pub(super) fn ask(question: Question) -> Option<Vec<Verdict>> {
    let question = Arc::new(question);
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    // Where a thread failed that saw other plans before, one that saw none has the last word.
    idle.and_then(|thread| ask_thread(thread, &question)).or_else(|| ask_thread(start()?, &question))
}

fn ask_thread(thread: Sender<Job>, question: &Arc<Question>) -> Option<Vec<Verdict>> {
    let (reply, answer) = sync_channel(1);
    thread.send(Job { question: question.clone(), reply }).ok()?;
    let verdicts = answer.recv().ok()?;
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if idle.len() < IDLE_MAX {
        idle.push(thread);
    }
    Some(verdicts)
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
