//! What the parent asks of a child process, and what comes back.

use luaplan::base::{LimitName, LimitProfile, Limits};
use serde::{Deserialize, Serialize};

/// The code a child ends with when it gives up its plan.
pub(crate) const EXIT_GIVEN_UP: i32 = 97;

/// A plan to run once.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) name: String,
    pub(crate) source: String,
    /// Limits that differ from those of [`Job::limits`], as on the command line: `memory`, `32MiB`.
    pub(crate) limits: Vec<(String, String)>,
    pub(crate) place: Place,
    /// Whether `source` is a plan that makes the source to run.
    pub(crate) generates: bool,
    /// From which seed the generated source is to be disturbed, if at all.
    pub(crate) disturbed_by: Option<u64>,
}

/// Where a plan runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Place {
    /// On the mlua engine, in the process itself.
    MluaInProcess,
    /// On the mlua engine, in a worker process.
    MluaInWorker,
    /// On piccolo, which runs in workers only.
    PiccoloInWorker,
}

impl Job {
    /// The limits of this job. Its wall limit is counted in processor time.
    pub(crate) fn limits(&self) -> Limits {
        let mut limits = LimitProfile::Strict.limits();
        for (name, value) in [("source", "64KiB"), ("wall", "2s")] {
            limits.set(name.parse().unwrap(), value).unwrap();
        }
        for (name, value) in &self.limits {
            let name: LimitName = name.parse().unwrap_or_else(|error| panic!("{}: {error}", self.name));
            limits.set(name, value).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        }
        limits
    }
}

/// What came of a job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Report {
    pub(crate) end: End,
    /// Processor time of the whole process while the plan ran.
    pub(crate) cpu_ms: u64,
    /// Of that, what passed after the plan was told to stop; absent where it was not told.
    pub(crate) late_ms: Option<u64>,
    pub(crate) instructions: u64,
    /// How much more memory the process held at its peak than before, in KiB; 0 where unknown.
    pub(crate) peak_kib: u64,
    /// How much more it holds afterwards than before its first plan, in KiB; 0 where unknown.
    pub(crate) kept_kib: u64,
    /// What was wrong with the innocent plan that ran next; empty where nothing was.
    pub(crate) next_run: String,
}

/// How a plan ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum End {
    /// With a result, as JSON text.
    Result(String),
    /// With an error: its code and message.
    Error(String, String),
    /// Not at all: the process was given up.
    NotStopped,
    /// The process died; how.
    Crashed(String),
}
