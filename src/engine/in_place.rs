//! Which VM steps run on the thread that drives the run.
//!
//! Moving a VM to a blocking thread and waking its task takes tens of microseconds, more than most steps.
//! A runtime of several threads can avoid that: `block_in_place` moves the thread's other tasks to another
//! thread, so a long step does not block them. It does block the run's own task, which
//! therefore cannot enforce the time: a [`Guard`] does. Such a step has no turn, so
//! only a run whose steps were short so far takes one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::AbortHandle;
use tokio_util::sync::CancellationToken;

use luaplan_base::{CallOutcome, Error, ErrorCode, Result, Value};
use luaplan_vm::{Interrupt, Step};

use super::stop_signal::StopSignal;

/// A run with one longer step runs all further steps on a blocking thread.
const SHORT_STEP: Duration = Duration::from_millis(2);

/// The most that is passed to a VM in place: a value counts one, and one more for each 64 bytes of text.
const LIGHT: usize = 512;

/// The longest source that is compiled in place.
const SHORT_SOURCE_BYTES: usize = 8 * 1024;

/// Whether a run's steps were short so far, on a runtime that allows steps in place.
pub(super) struct InPlace {
    is_allowed: bool,
}

impl InPlace {
    /// Allowed where the runtime has several threads.
    pub(super) fn of_this_runtime() -> Self {
        let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
        Self { is_allowed: matches!(flavor, Ok(RuntimeFlavor::MultiThread)) }
    }

    pub(super) const fn never() -> Self {
        Self { is_allowed: false }
    }

    pub(super) const fn is_allowed(&self) -> bool {
        self.is_allowed
    }

    /// Whether a plan may be started in place.
    pub(super) fn takes_start(&self, source: &str, context: &Value) -> bool {
        self.is_allowed && source.len() <= SHORT_SOURCE_BYTES && is_light([context])
    }

    /// Whether answers may be passed to the VM in place.
    pub(super) fn takes_answers(&self, outcomes: &[CallOutcome]) -> bool {
        // Failures have bounds of their own.
        self.is_allowed && is_light(outcomes.iter().filter_map(|outcome| outcome.as_ref().ok()))
    }

    /// Records how long a step took, on whichever thread.
    pub(super) fn took(&mut self, time: Duration) {
        self.is_allowed &= time <= SHORT_STEP;
    }

    /// Runs a step in place and returns its duration; returns the work where the runtime does not
    /// allow it, as inside a `LocalSet`.
    ///
    /// # Errors
    /// `internal` where the work panics.
    pub(super) fn step<W: FnOnce() -> Step>(
        &mut self,
        work: W,
    ) -> Result<std::result::Result<(Step, Duration), W>> {
        let since = Instant::now();
        let mut work = Some(work);
        let taken =
            catch_unwind(AssertUnwindSafe(|| tokio::task::block_in_place(|| work.take().map(|work| work()))));
        match (taken, work) {
            (Ok(Some(step)), _) => {
                let time = since.elapsed();
                self.took(time);
                Ok(Ok((step, time)))
            }
            (_, Some(work)) => {
                self.is_allowed = false;
                Ok(Err(work))
            }
            _ => Err(Error::new(ErrorCode::Internal, "the VM broke off")),
        }
    }
}

fn is_light<'v>(values: impl IntoIterator<Item = &'v Value>) -> bool {
    fn weigh(value: &Value, left: &mut usize) -> Option<()> {
        const BYTES: usize = 64;
        let own = 1 + match value {
            Value::String(text) => text.len() / BYTES,
            Value::Bytes(bytes) => bytes.len() / BYTES,
            _ => 0,
        };
        *left = left.checked_sub(own)?;
        match value {
            Value::Array(items) => items.iter().try_for_each(|item| weigh(item, left)),
            Value::Object(members) => members.values().try_for_each(|item| weigh(item, left)),
            _ => Some(()),
        }
    }
    let mut left = LIGHT;
    values.into_iter().try_for_each(|value| weigh(value, &mut left)).is_some()
}

/// Interrupts a VM when its run must end, from a separate task.
pub(super) struct Guard(AbortHandle);

impl Guard {
    /// `stopping` is cancelled after the interrupt was triggered.
    pub(super) fn new(interrupt: Interrupt, stopping: CancellationToken, stop_signal: StopSignal) -> Self {
        let watch = async move {
            interrupt.trigger(stop_signal.reached_or_paused().await);
            stopping.cancel();
        };
        Self(tokio::spawn(watch).abort_handle())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: usize) -> Value {
        Value::String("x".repeat(bytes))
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn one_long_step_ends_it_and_weight_decides_the_rest() {
        let mut in_place = InPlace::of_this_runtime();
        assert!(in_place.takes_start("return 1", &Value::Null));
        assert!(!in_place.takes_start(&"-".repeat(SHORT_SOURCE_BYTES + 1), &Value::Null));
        let (many, long) = (Value::Array(vec![Value::Null; LIGHT]), text(LIGHT * 64));
        for heavy in [many, long] {
            assert!(!in_place.takes_start("return 1", &heavy));
            assert!(!in_place.takes_answers(&[Ok(heavy)]));
        }
        let parts = || Ok(Value::Array(vec![text(640), Value::Null]));
        assert!(in_place.takes_answers(&[parts(), parts()]));
        assert!(!in_place.takes_answers(&vec![parts(); LIGHT / 12]));
        in_place.took(SHORT_STEP);
        assert!(in_place.is_allowed());
        in_place.took(SHORT_STEP * 2);
        in_place.took(Duration::ZERO);
        assert!(!in_place.is_allowed());
    }

    #[tokio::test]
    async fn a_runtime_of_one_thread_takes_none() {
        assert!(!InPlace::of_this_runtime().is_allowed());
    }

    fn ended() -> Step {
        let (usage, printed) = (luaplan_vm::VmUsage::default(), String::new());
        Step::Done(luaplan_vm::Stopped { result: Ok(Value::Null), usage, printed, reports: Vec::new() })
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 1)]
    async fn a_step_that_panics_is_an_error_and_one_that_is_refused_comes_back() {
        let mut in_place = InPlace::of_this_runtime();
        assert!(matches!(in_place.step(ended), Ok(Ok(_))));
        assert!(in_place.step(|| panic!("on purpose")).is_err());
        let local = tokio::task::LocalSet::new();
        let refused = local.run_until(async {
            let mut in_place = InPlace::of_this_runtime();
            let refused = tokio::task::spawn_local(async move {
                let came_back = matches!(in_place.step(ended), Ok(Err(_)));
                came_back && !in_place.is_allowed()
            });
            refused.await.unwrap()
        });
        assert!(refused.await);
    }
}
