//! Threads for the analysis, with large stacks: it recurses as deep as the plan is nested.
//!
//! There is no time-out, so that no clock decides what is found; [`super::bounded`] refuses plans that would take
//! long.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use super::analysis::Analyses;
use super::question::{Answer, Question};

/// Several times what the deepest tree that passes the check needs.
const STACK_BYTES: usize = 128 * 1024 * 1024;
/// The most idle threads, kept for their loaded analyses.
const IDLE_MAX: usize = 4;

struct Job {
    question: Arc<Question>,
    reply: SyncSender<Answer>,
}

static IDLE: Mutex<Vec<Sender<Job>>> = Mutex::new(Vec::new());

/// What the types of one plan tell; `None` where the analysis failed.
pub(super) fn ask(question: Question) -> Option<Answer> {
    let question = Arc::new(question);
    let idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner).pop();
    // A thread that saw other plans may fail because of them; a fresh thread decides.
    idle.and_then(|thread| ask_thread(thread, &question)).or_else(|| ask_thread(start()?, &question))
}

fn ask_thread(thread: Sender<Job>, question: &Arc<Question>) -> Option<Answer> {
    let (reply, answer) = sync_channel(1);
    thread.send(Job { question: question.clone(), reply }).ok()?;
    let told = answer.recv().ok()?;
    let mut idle = IDLE.lock().unwrap_or_else(PoisonError::into_inner);
    if idle.len() < IDLE_MAX {
        idle.push(thread);
    }
    Some(told)
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
        let Ok(told) = catch_unwind(AssertUnwindSafe(|| analyses.answer(&question))) else {
            // Its state may be incomplete; the next check starts a new thread.
            return;
        };
        let _ = reply.send(told);
    }
}
