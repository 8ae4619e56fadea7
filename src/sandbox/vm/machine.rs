//! The interface of an engine to its pauses.

use luaplan_base::{CallOutcome, Result, StepReport, Value};

use crate::{Step, Stopped, VmOptions, VmUsage};

/// A VM of some engine: made fresh for one run, driven from pause to pause, dropped.
///
/// [`crate::Vm`] and [`crate::PiccoloVm`] implement it. Only the methods of a pause resume a VM.
pub trait Machine: Resume {
    /// A fresh VM with its prelude, library and tools.
    ///
    /// # Errors
    /// `limit_memory` where the memory limit does not even hold the prelude.
    fn new(options: VmOptions) -> Result<Self>;

    /// Numbers the calls after `steps` earlier ones of the same run.
    #[must_use]
    fn numbering_calls_after(self, steps: u64) -> Self;

    /// Tells `date.now` and `date.today` when the run started, in Unix seconds. Without this they raise.
    #[must_use]
    fn run_started_at(self, unix_seconds: Option<i64>) -> Self;

    /// Compiles `source` and runs it to its first pause, with `context` given to its `run`.
    /// All errors come as [`Step::Done`].
    fn start(self, source: &str, chunk_name: &str, context: &Value) -> Step<Self>;
}

/// The ways to resume, for pauses only: the trait cannot be named outside the sandbox.
pub trait Resume: Sized {
    /// Resumes with the outcomes of the last calls, in their order.
    fn answer(self, outcomes: Vec<CallOutcome>) -> Step<Self>
    where
        Self: Machine;

    /// Resumes after a slice or a wait.
    fn resume(self) -> Step<Self>
    where
        Self: Machine;

    /// What was used so far.
    fn usage(&self) -> VmUsage;

    /// The text printed since the last call.
    fn take_printed(&mut self) -> String;

    /// The steps that came to another state since the last call.
    fn take_reports(&mut self) -> Vec<StepReport>;

    /// Ends the run with `result`.
    fn stop(self, result: Result<Value>) -> Stopped;
}
