//! The process that is killed: this test binary, run again for one test with [`JOB`] set.

use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use luaplan::app::{ApprovalAnswer, JournalLayer, PlanningOptions, RunRequest, Work};
use luaplan::base::{Result, RunId};
use luaplan::bus::Circumstances;
use luaplan::journal::{ConflictGuard, Durability, Event, JournalWrite, Record, Settled};
use nix::sys::signal::{Signal, raise};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{Case, open, resume_request};

/// The variable that names the file of the job.
const JOB: &str = "LUAPLAN_TEST_SURVIVAL_JOB";

/// When a child ends itself: before or after its `write`th record is written, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kill {
    pub(crate) write: u64,
    pub(crate) after: bool,
}

/// What a child does.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) folder: PathBuf,
    /// TOML: the configuration's keys and values.
    pub(crate) flags: Vec<(String, toml::Value)>,
    pub(crate) run_id: String,
    pub(crate) case: Case,
    pub(crate) kill: Option<Kill>,
    /// Whether it decides about the calls that wait and goes on with the run, instead of beginning it.
    #[serde(default)]
    pub(crate) decides: bool,
    /// Whether it stands still where it would be killed, until somebody lets it go on.
    #[serde(default)]
    pub(crate) stops: bool,
}

impl Job {
    /// Does it in a process of its own.
    pub(crate) fn run(&self) -> ExitStatus {
        self.command().output().unwrap().status
    }

    /// The process that does it.
    pub(crate) fn command(&self) -> Command {
        std::fs::create_dir_all(&self.folder).unwrap();
        let file = self.folder.join("job.json");
        std::fs::write(&file, serde_json::to_string(self).unwrap()).unwrap();
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args(["--exact", "survival::child::child_process", "--nocapture", "--test-threads=1"])
            .env(JOB, file);
        command
    }
}

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

#[async_trait]
impl JournalWrite for Killing {
    async fn append(&self, event: Event, durability: Durability) -> Result<Record> {
        let write = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        self.die_at(write, false);
        let record = self.journal.append(event, durability).await?;
        self.die_at(write, true);
        Ok(record)
    }

    async fn settle(&self, events: Vec<Event>, unless: ConflictGuard) -> Result<Settled> {
        let write = self.writes.fetch_add(1, Ordering::SeqCst) + 1;
        self.die_at(write, false);
        let settled = self.journal.settle(events, unless).await?;
        self.die_at(write, true);
        Ok(settled)
    }

    async fn check_fence(&self) -> Result<()> {
        self.journal.check_fence().await
    }

    async fn release_lease(&self) -> Result<()> {
        self.journal.release_lease().await
    }
}

fn killing(kill: Kill, signal: Signal) -> JournalLayer {
    let writes = Arc::new(AtomicU64::new(0));
    Arc::new(move |journal| Arc::new(Killing { journal, kill, signal, writes: Arc::clone(&writes) }))
}

#[tokio::test]
async fn child_process() {
    #[expect(clippy::disallowed_methods, reason = "a switch of this test, not of the program")]
    let Ok(file) = std::env::var(JOB) else { return };
    let job: Job = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let signal = if job.stops { Signal::SIGSTOP } else { Signal::SIGKILL };
    let app = open(&job.folder, job.flags, job.kill.map(|kill| killing(kill, signal))).await;
    let run_id: RunId = job.run_id.parse().unwrap();
    if job.decides {
        for waits in app.pending_approvals(Some(&run_id)).await.unwrap() {
            app.decide(&waits.request.approval_id, ApprovalAnswer::Once, "ann").await.unwrap();
        }
        app.resume(resume_request(&run_id)).await.unwrap();
        app.journal().close().await;
        return;
    }
    let request = RunRequest {
        run_id,
        work: Work::Plan { name: "plan".to_owned(), source: job.case.source.clone() },
        context: Some(job.case.context()),
        context_name: None,
        planning: PlanningOptions::default(),
        limits: job.case.limits(&app),
        circumstances: Circumstances::default(),
        handler: None,
        listeners: Vec::new(),
        cancel: CancellationToken::new(),
        starts_over: None,
    };
    app.run(request).await;
    app.journal().close().await;
}
