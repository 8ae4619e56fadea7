//! Which lines of a plan run.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Notes the lines of a plan that run; clones share the notes, so that these outlive the VM.
///
/// Given to a VM with [`crate::Vm::tracing_lines`]; a VM without one pays nothing. Counts of
/// instructions are the same with and without.
#[derive(Debug, Clone, Default)]
pub struct LineTrace(Arc<Mutex<BTreeSet<u32>>>);

impl LineTrace {
    /// The lines that ran so far, counted from 1.
    #[must_use]
    pub fn lines(&self) -> BTreeSet<u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub(crate) fn note(&self, line: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(line);
    }
}
