//! Observations of one run of a plan under test.

use std::collections::BTreeSet;

use luaplan_base::{Error, ErrorCode, ToolFailure};

use super::recorder::CallRecord;

/// One run of the plan.
#[derive(Debug)]
pub(super) struct ObservedRun {
    /// The lines that ran, where they were noted.
    pub(super) lines: BTreeSet<u32>,
    /// The calls, in program order.
    pub(super) calls: Vec<CallRecord>,
    /// Why it did not succeed.
    pub(super) error: Option<ObservedError>,
}

/// Why a run did not succeed.
#[derive(Debug, Clone)]
pub(super) struct ObservedError {
    pub(super) code: ErrorCode,
    pub(super) message: String,
}

impl From<&Error> for ObservedError {
    fn from(error: &Error) -> Self {
        Self { code: error.code(), message: error.message().to_owned() }
    }
}

/// A call to fail.
#[derive(Debug, Clone)]
pub(super) struct CallToFail {
    /// Which run of the plan within its test, counted from 0.
    pub(super) run: usize,
    /// The call's position in the program.
    pub(super) call_id: String,
    pub(super) failure: ToolFailure,
}

/// What to observe of the runs of one test besides its result.
#[derive(Debug, Clone, Default)]
pub(super) struct Probe {
    pub(super) notes_lines: bool,
    pub(super) fault: Option<CallToFail>,
}
