//! A process that does a run and is killed in the midst of it.

#[path = "../it/survival/job.rs"]
mod job;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use job::{Case, Job, Kill, open};
use luaplan::app::{AfterDecision, ApprovalAnswer, JournalLayer, ResumeRequest, RunSpec, Work};
use luaplan::base::{Result, RunId};
use luaplan::journal::{Actor, ConflictGuard, Durability, Event, JournalWrite, Record, Settled};
use nix::sys::signal::{Signal, raise};
use tokio_util::sync::CancellationToken;

struct Killing {
    journal: Arc<dyn JournalWrite>,
    kill: Kill,
    signal: Signal,
    writes: Arc<AtomicU64>,
}

impl Killing {
    fn die_at(&self, write: u64, after: bool) {
        if self.kill == (Kill { write, after }) {
            raise(self.signal).unwrap();
        }
    }
}

/// What the methods of a journal give, as that trait's macro spells it, which only development dependencies would bring.
type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T>> + Send + 'a>>;

impl JournalWrite for Killing {
    fn append<'s: 'a, 'a>(&'s self, event: Event, durability: Durability) -> Answer<'a, Record> {
        Box::pin(async move {
            let write = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
            self.die_at(write, false);
            let record = self.journal.append(event, durability).await?;
            self.die_at(write, true);
            Ok(record)
        })
    }

    fn settle<'s: 'a, 'a>(&'s self, events: Vec<Event>, unless: ConflictGuard) -> Answer<'a, Settled> {
        Box::pin(async move {
            let write = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
            self.die_at(write, false);
            let settled = self.journal.settle(events, unless).await?;
            self.die_at(write, true);
            Ok(settled)
        })
    }

    fn check_fence<'s: 'a, 'a>(&'s self) -> Answer<'a, ()> {
        self.journal.check_fence()
    }

    fn release_lease<'s: 'a, 'a>(&'s self) -> Answer<'a, ()> {
        self.journal.release_lease()
    }
}

fn killing(kill: Kill, signal: Signal) -> JournalLayer {
    let writes = Arc::new(AtomicU64::new(0));
    Arc::new(move |journal| Arc::new(Killing { journal, kill, signal, writes: Arc::clone(&writes) }))
}

/// Does the job that a file describes, up to the place where it is killed.
pub(crate) async fn child(file: &Path) {
    let job: Job = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let signal = if job.stops { Signal::SIGSTOP } else { Signal::SIGKILL };
    let app = open(&job.folder, job.flags, job.kill.map(|kill| killing(kill, signal))).await;
    let run_id: RunId = job.run_id.parse().unwrap();
    if job.decides {
        for waits in app.approvals().pending(Some(&run_id)).await.unwrap() {
            let (id, by) = (&waits.request.approval_id, Actor::named("ann"));
            let (once, then) = (ApprovalAnswer::Once, AfterDecision::StaysPaused);
            app.approvals().decide(id, once, then, &by).await.unwrap();
        }
        app.resume(ResumeRequest::new(run_id, CancellationToken::new())).await.unwrap();
        app.journal().close().await;
        return;
    }
    let (is_task, source) = (job.case.name == Case::TASK, job.case.source.clone());
    let work = if is_task { Work::Task(source) } else { Work::Plan { name: "plan".to_owned(), source } };
    let request = RunSpec {
        run_id,
        context: Some(job.case.context()),
        approve: is_task,
        ..RunSpec::new(work, job.case.limits(&app))
    };
    app.run(request).await;
    app.journal().close().await;
}
