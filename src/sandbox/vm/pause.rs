//! The pauses of a VM, each with the only resume methods that are legal there, and its end.

use std::time::Duration;

use luaplan_base::{CallOutcome, CallRequest, Error, Result, StepReport, Value};

use super::machine::Machine;
use crate::Vm;

/// Why a VM paused or ended.
#[must_use = "a VM that is dropped loses its run"]
#[derive(Debug)]
pub enum Step<M: Machine = Vm> {
    /// The plan waits for tool calls.
    Calls(PendingCalls<M>),
    /// The slice of instructions is used up.
    Slice(PausedSlice<M>),
    /// The plan waits before another attempt of `retry`.
    Wait(PausedWait<M>),
    /// The plan has ended, with a result or an error.
    Done(Stopped),
}

macro_rules! common_to_pauses {
    ($($pause:ident),+) => {$(
        impl<M: Machine> $pause<M> {
            /// The text printed since the previous pause; a second call gives nothing.
            pub fn take_printed(&mut self) -> String {
                self.vm.take_printed()
            }

            /// The steps that came to another state since the previous pause, in order; a second call gives nothing.
            pub fn take_reports(&mut self) -> Vec<StepReport> {
                self.vm.take_reports()
            }

            /// What was used so far.
            #[must_use]
            pub fn usage(&self) -> VmUsage {
                self.vm.usage()
            }

            /// Ends the run for a reason the plan cannot catch.
            #[must_use]
            pub fn abort(self, reason: Error) -> Stopped {
                self.vm.stop(Err(reason))
            }
        }
    )+};
}
common_to_pauses!(PendingCalls, PausedSlice, PausedWait);

/// A plan that waits for tool calls.
#[derive(Debug)]
pub struct PendingCalls<M: Machine = Vm> {
    pub(crate) vm: M,
    /// The calls, in the order of the program: a single one, or one for each branch of `parallel` that
    /// reached a call in this round. These may run at the same time.
    pub calls: Vec<CallRequest>,
}

impl<M: Machine> PendingCalls<M> {
    /// Resumes with the outcomes of the calls, in the order of `calls`. A different number of outcomes
    /// ends the run with `internal`.
    pub fn answer(self, outcomes: Vec<CallOutcome>) -> Step<M> {
        self.vm.answer(outcomes)
    }
}

/// A plan that has used up its slice.
#[derive(Debug)]
pub struct PausedSlice<M: Machine = Vm> {
    pub(crate) vm: M,
}

impl<M: Machine> PausedSlice<M> {
    /// Resumes with a new slice.
    pub fn resume(self) -> Step<M> {
        self.vm.resume()
    }
}

/// A plan that waits before another attempt of `retry`.
#[derive(Debug)]
pub struct PausedWait<M: Machine = Vm> {
    pub(crate) vm: M,
    /// How long to wait.
    pub wait: Duration,
    /// The attempt that failed, counted from 1.
    pub attempt: u32,
    /// How many attempts there are.
    pub attempts_max: u32,
    /// Why it failed.
    pub message: String,
}

impl<M: Machine> PausedWait<M> {
    /// Resumes with the next attempt.
    pub fn resume(self) -> Step<M> {
        self.vm.resume()
    }
}

/// What a VM has used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VmUsage {
    /// Instructions run, and work of the library in the same unit.
    pub instructions: u64,
    /// The most bytes held at once.
    pub memory_peak_bytes: u64,
    /// Tool calls requested.
    pub calls: u64,
}

/// A plan that has ended. The VM is gone.
#[derive(Debug)]
pub struct Stopped {
    /// What `run` returned, or why it stopped.
    pub result: Result<Value>,
    /// What was used.
    pub usage: VmUsage,
    /// The text printed since the previous pause.
    pub printed: String,
    /// The steps that came to another state since the previous pause, in order.
    pub reports: Vec<StepReport>,
}
