//! A summary of a run.

use jiff::Timestamp;
use serde::Serialize;

use luaplan_base::{ContentHash, ErrorCode, RunId, Usage};

use super::{ParentCall, RunState, RunStatus, Word};

/// The tenant of runs recorded before there were tenants: the command line.
const TENANT_OF_OLD_RECORDS: &str = "local";

/// A summary of a run, as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSummary {
    /// The run.
    pub run_id: RunId,
    /// The tenant it belongs to.
    pub tenant: String,
    /// Time of its first record.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The task in plain words, where there was one.
    pub task: Option<String>,
    /// The plan's name.
    pub plan_name: Option<String>,
    /// Whether mocks answered its calls.
    pub mocked: bool,
    /// Whether nothing of its plan is to run.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub plan_only: bool,
    /// Hash of the plan.
    pub plan_hash: Option<ContentHash>,
    /// Its status.
    pub status: RunStatus,
    /// The code it failed with.
    pub code: Option<Word<ErrorCode>>,
    /// Its resource usage; known once it has ended.
    pub usage: Option<Usage>,
    /// The call that started it, where it is the run of an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<ParentCall>,
    /// The run it was reset from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starts_over: Option<RunId>,
    /// The run whose plan it changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub follows: Option<RunId>,
    /// When it wakes, where it sleeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wake_at: Option<Timestamp>,
    /// When it resumes without an answer, where it is paused for one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer_by: Option<Timestamp>,
    /// Calls allowed so far; refused ones are not counted.
    pub tool_calls: u64,
}

impl RunSummary {
    /// Whether its process was stopped during the run: it can be resumed.
    #[must_use]
    pub fn was_interrupted(&self) -> bool {
        self.status.was_interrupted(self.code.as_ref())
    }
}

impl RunState {
    /// The run's summary.
    #[must_use]
    pub fn summary(&self) -> RunSummary {
        RunSummary {
            run_id: self.run_id.clone(),
            tenant: self.tenant.clone().unwrap_or_else(|| TENANT_OF_OLD_RECORDS.to_owned()),
            started_at: self.started_at,
            ended_at: self.ended_at,
            task: self.task.clone(),
            plan_name: self.plan_name.clone(),
            mocked: self.mocked,
            plan_only: self.plan_only,
            plan_hash: self.plan_hash.clone(),
            status: self.status,
            code: self.code.clone(),
            usage: self.usage,
            parent: self.parent.clone(),
            starts_over: self.starts_over.clone(),
            follows: self.follows.clone(),
            wake_at: self.wake_at,
            answer_by: self.answer_by,
            tool_calls: self.calls.iter().filter(|call| !call.refused).count() as u64,
        }
    }
}
