//! How far an autonomous run has come, folded from its records.

use serde::Serialize;

use luaplan_base::{Result, RunId};

use super::{EventBody, JournalRead, Mode, RecordFilter, Word};

/// The iterations of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct IterationState {
    /// The iterations begun in all.
    pub total: u32,
    /// Those since the mode was set last.
    pub counted: u32,
    /// The most of these, where the last change of the mode said so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// What was said of the plan that was accepted last, where it was judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<JudgedIteration>,
    /// The plans accepted so far, in any mode.
    #[serde(skip)]
    pub plans: u32,
}

/// What was said of one plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct JudgedIteration {
    /// Whether the task was done by it.
    pub done: bool,
    /// Who says so, and why.
    pub observation: String,
}

impl IterationState {
    pub(super) fn apply(&mut self, body: &EventBody) {
        match body {
            EventBody::Iteration { done: None, .. } => {
                self.total = self.total.saturating_add(1);
                self.counted = self.counted.saturating_add(1);
            }
            EventBody::Iteration { done: Some(done), observation, .. } => {
                let observation = observation.clone().unwrap_or_default();
                self.judged = Some(JudgedIteration { done: *done, observation });
            }
            EventBody::ModeChanged { max_iterations, .. } => {
                self.counted = 0;
                self.max = *max_iterations;
            }
            EventBody::PlanAccepted { .. } => {
                self.judged = None;
                self.plans = self.plans.saturating_add(1);
            }
            _ => {}
        }
    }

    pub(super) fn is_none(&self) -> bool {
        self.total == 0 && self.max.is_none()
    }
}

/// The mode that a run was switched to last; `None` for one that is in the mode it started in.
///
/// # Errors
/// As reading the journal.
pub async fn switched_mode(journal: &dyn JournalRead, run_id: &RunId) -> Result<Option<Word<Mode>>> {
    let filter = RecordFilter {
        run_id: Some(run_id.clone()),
        events: vec!["mode_changed".to_owned()],
        newest_first: true,
        limit: Some(1),
        ..RecordFilter::default()
    };
    let last = journal.records(filter).await?.pop();
    Ok(last.and_then(|record| match record.event.body {
        EventBody::ModeChanged { mode, .. } => Some(mode),
        _ => None,
    }))
}
