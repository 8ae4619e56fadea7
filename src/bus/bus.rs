//! The bus of one run: what all its calls share. `batch.rs` counts calls against the budget and holds the sequence of
//! their steps; `call.rs` holds the steps.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use luaplan_base::{CallId, Error, ErrorCode};
use luaplan_journal::{Mode, QuestionState, RunLog};

use super::{FlowGate, Limiter, Policy, Registry, RunApprovals, RunBudget, RunGate};

/// The parts of a [`Bus`].
#[derive(Clone)]
pub struct BusParts {
    /// The tools.
    pub registry: Arc<Registry>,
    /// The rates, shared by all runs.
    pub limiter: Arc<Limiter>,
    /// What this run may do.
    pub policy: Policy,
    /// The approvals and grants for its calls.
    pub approvals: RunApprovals,
    /// Whether untrusted data steers calls; absent where that is not asked.
    pub flow: Option<FlowGate>,
    /// The recorded wake times of calls that put the run to sleep.
    pub wakes: HashMap<CallId, Timestamp>,
    /// The recorded questions of calls that asked a person.
    pub questions: HashMap<CallId, QuestionState>,
    /// The run's log.
    pub log: RunLog,
    /// The run's budget.
    pub budget: Arc<RunBudget>,
    /// Cancelled when the run is.
    pub cancellation: CancellationToken,
    /// When the run's wall time ends, without its sleeps: the longest that calls wait for their turns.
    pub deadline: Instant,
    /// The largest single result, as [`luaplan_base::Value::approximate_bytes`] measures it.
    pub result_bytes_max: u64,
}

/// Answers the calls of one run.
///
/// For each call, in this order: the budget of calls; the tool by name; its arguments; policy; whether untrusted data
/// steers it; a person's approval where one of the two requires it; rate; the intent in the journal; the tool, under its
/// timeout; the size of its result; the outcome in the journal. A tool with an effect is
/// called only once the intent is on the disk; the intent of a read is queued and not
/// waited for.
pub struct Bus {
    pub(super) parts: BusParts,
    pub(super) run_gate: RunGate,
    /// The policy as it would be were the run in its other mode.
    pub(super) other_mode: Policy,
}

impl Bus {
    /// A bus for a run that starts now.
    #[must_use]
    pub fn new(parts: BusParts) -> Self {
        let run_gate = parts.limiter.run_gate();
        let other_mode = parts.policy.in_mode(match parts.policy.circumstances.mode {
            Mode::Structured => Mode::Autonomous,
            Mode::Autonomous => Mode::Structured,
        });
        Self { parts, run_gate, other_mode }
    }

    pub(super) fn cancelled() -> Error {
        Error::new(ErrorCode::Cancelled, "the run was cancelled while calls were under way")
    }
}
