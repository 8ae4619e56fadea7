//! The one loop that awaits: VM to its next pause, calls to their handler, and round again.
//!
//! The VM runs on a blocking thread, step by step, so a looping plan never holds up the runtime.
//! Time is watched here and nowhere else: at the wall limit the VM is interrupted and the calls
//! under way are cancelled; a VM that does not stop within [`STOP_GRACE`] (a single library call
//! can outlast it) is abandoned, and the run ends without it.

use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::{PhaseEvent, RunOutcome, RunPhase};
use crate::base::{Error, ErrorCode, LimitName, Limits, Result, Usage, Value};
use crate::bus::CallHandler;
use crate::journal::{Durability, EventBody, RunLog};
use crate::plan::CheckedPlan;
use crate::sandbox::{
    Interrupt, InterruptReason, PausedWait, PendingCalls, Step, Stopped, Vm, VmLimits, VmOptions, VmUsage,
};

/// How long an interrupted VM, or a cancelled call, has to come to its end.
const STOP_GRACE: Duration = Duration::from_millis(500);

/// After so many instructions the VM pauses, so that many runs share few threads.
const SLICE_INSTRUCTIONS: u64 = 10_000_000;

/// What to run, and with what.
pub struct DriveRequest {
    /// The plan.
    pub plan: CheckedPlan,
    /// The context handed to `run`.
    pub context: Value,
    /// The names of the tools the plan may call.
    pub tools: Vec<String>,
    /// What it may use.
    pub limits: Limits,
    /// Calls that earlier plans of the same run made; ids go on from there. 0 for a first plan.
    pub calls_before: u64,
    /// When the run began; its wall time counts from here.
    pub started: Instant,
    /// Cancelled when somebody ends the run.
    pub cancel: CancellationToken,
    /// Cancelled by the drive when the calls under way must stop; given to the handler as well.
    pub cancel_calls: CancellationToken,
}

/// Runs a plan to its end. The end is in the outcome; the caller records it.
pub async fn drive(request: DriveRequest, handler: &dyn CallHandler, log: &RunLog) -> RunOutcome {
    let started = request.started;
    let mut drive = Drive {
        deadline: started + request.limits.wall,
        wall: request.limits.wall,
        interrupt: Interrupt::default(),
        cancel: request.cancel,
        cancel_calls: request.cancel_calls,
        handler,
        log,
        printed: String::new(),
        usage: VmUsage::default(),
        phase: RunPhase::Running,
    };
    let options = VmOptions {
        limits: VmLimits::from(&request.limits),
        tools: request.tools,
        interrupt: drive.interrupt.clone(),
        slice_instructions: SLICE_INSTRUCTIONS,
    };
    let (plan, context, calls_before) = (request.plan, request.context, request.calls_before);
    let first = move || match Vm::new(options) {
        Ok(vm) => vm.numbering_calls_after(calls_before).start(plan.source(), plan.name(), &context),
        Err(error) => {
            Step::Done(Stopped { result: Err(error), usage: VmUsage::default(), printed: String::new() })
        }
    };
    let result = drive.run(first).await;
    let usage = Usage {
        instructions: drive.usage.instructions,
        memory_peak_bytes: drive.usage.memory_peak_bytes,
        wall_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        tool_calls: drive.usage.calls,
        ..Usage::default()
    };
    RunOutcome { run_id: log.run_id().clone(), result, usage, printed: drive.printed }
}

struct Drive<'a> {
    deadline: Instant,
    wall: Duration,
    interrupt: Interrupt,
    cancel: CancellationToken,
    cancel_calls: CancellationToken,
    handler: &'a dyn CallHandler,
    log: &'a RunLog,
    printed: String,
    usage: VmUsage,
    phase: RunPhase,
}

impl Drive<'_> {
    async fn run(&mut self, first: impl FnOnce() -> Step + Send + 'static) -> Result<Value> {
        let mut step = self.step(first).await?;
        loop {
            step = match step {
                Step::Slice(paused) => {
                    tokio::task::yield_now().await;
                    self.step(move || paused.go_on()).await?
                }
                Step::Calls(pending) => self.answer(pending).await?,
                Step::Wait(paused) => self.wait(paused).await?,
                Step::Done(stopped) => return self.stop(stopped).await,
            };
        }
    }

    /// Takes the VM to its next pause on a blocking thread, watching the time.
    async fn step(&mut self, work: impl FnOnce() -> Step + Send + 'static) -> Result<Step> {
        let mut thread = tokio::task::spawn_blocking(work);
        let reason = tokio::select! {
            biased;
            done = &mut thread => return joined(done),
            () = self.cancel.cancelled() => InterruptReason::Cancelled,
            () = tokio::time::sleep_until(self.deadline) => InterruptReason::WallTime,
        };
        self.interrupt.trigger(reason);
        match tokio::time::timeout(STOP_GRACE, &mut thread).await {
            Ok(done) => joined(done),
            Err(_) => {
                tracing::error!(run_id = %self.log.run_id(), "a VM did not stop in time and was abandoned");
                Err(self.interrupted(reason))
            }
        }
    }

    async fn answer(&mut self, mut pending: PendingCalls) -> Result<Step> {
        self.take_print(&pending.take_printed()).await?;
        let calls = std::mem::take(&mut pending.calls);
        let cancel_calls = self.cancel_calls.clone();
        let handler = self.handler;
        let mut answers = std::pin::pin!(handler.answer(calls));
        let reason = tokio::select! {
            biased;
            answered = &mut answers => {
                return match answered {
                    Ok(outcomes) => self.step(move || pending.answer(outcomes)).await,
                    Err(error) => Ok(Step::Done(pending.abort(error))),
                };
            }
            () = self.cancel.cancelled() => InterruptReason::Cancelled,
            () = tokio::time::sleep_until(self.deadline) => InterruptReason::WallTime,
        };
        // The handler gets a moment to record that its calls were cut.
        cancel_calls.cancel();
        let _ = tokio::time::timeout(STOP_GRACE, answers).await;
        Ok(Step::Done(pending.abort(self.interrupted(reason))))
    }

    async fn wait(&mut self, mut paused: PausedWait) -> Result<Step> {
        self.phase = self.phase.after(PhaseEvent::WaitWanted)?;
        self.take_print(&paused.take_printed()).await?;
        let body = EventBody::StepRetryScheduled {
            attempt: paused.attempt,
            attempts_max: paused.attempts_max,
            message: paused.message.clone(),
        };
        self.log.emit(body, Durability::Ordered).await?;
        let reason = tokio::select! {
            biased;
            () = self.cancel.cancelled() => InterruptReason::Cancelled,
            () = tokio::time::sleep_until(self.deadline) => InterruptReason::WallTime,
            () = tokio::time::sleep(paused.wait) => {
                self.phase = self.phase.after(PhaseEvent::WaitOver)?;
                return self.step(move || paused.go_on()).await;
            }
        };
        Ok(Step::Done(paused.abort(self.interrupted(reason))))
    }

    async fn stop(&mut self, stopped: Stopped) -> Result<Value> {
        self.usage = stopped.usage;
        self.take_print(&stopped.printed).await?;
        // The VM knows why it was stopped, the drive knows the numbers.
        let interrupted = self.interrupt.reason().map(|reason| self.interrupted(reason));
        match (stopped.result, interrupted) {
            (Err(error), Some(interrupted)) if interrupted.code() == error.code() => Err(interrupted),
            (result, _) => result,
        }
    }

    fn interrupted(&self, reason: InterruptReason) -> Error {
        match reason {
            InterruptReason::Cancelled => Error::new(ErrorCode::Cancelled, "the run was cancelled"),
            InterruptReason::WallTime => {
                let over = Instant::now().saturating_duration_since(self.deadline);
                LimitName::Wall.exceeded(millis(self.wall), millis(self.wall + over))
            }
        }
    }

    async fn take_print(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.printed.push_str(text);
        self.log.emit(EventBody::Printed { text: text.to_owned() }, Durability::Ordered).await
    }
}

fn joined(done: std::result::Result<Step, tokio::task::JoinError>) -> Result<Step> {
    done.map_err(|error| Error::new(ErrorCode::Internal, "the VM broke off").with_source(error))
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
