//! The one loop that awaits: the VM to its next pause, its calls to their handler, and again.
//!
//! The VM runs on a blocking thread, in place (`in_place`) or in a worker process, step by step, so a looping
//! plan never blocks the runtime. Only this module enforces the wall limit: it interrupts the VM
//! and cancels running calls; a VM that does not stop within its grace (a
//! single library call can outlast it) is abandoned, its process ended, and the run ends without it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use luaplan_base::{
    CallOutcome, CallRequest, Error, ErrorCode, LimitName, Limits, Result, StepReport, StepState, Usage,
    Value,
};
use luaplan_bus::{CallHandler, IdleTime, Interruption, Suspension};
use luaplan_journal::{Durability, EventBody, RunLog};
use luaplan_plan::CheckedPlan;
use luaplan_vm::{
    Interrupt, InterruptReason, LineTrace, SLICE_INSTRUCTIONS, Stopped, VmLimits, VmOptions, VmPool, VmUsage,
};
use luaplan_workers::{Pause, WorkerPool, WorkerStart, is_violation};

use super::RunOutcome;
use super::in_place::Guard;
use super::stop_signal::StopSignal;
use super::vm_executor::VmExecutor;

/// How long a cancelled call has to end.
const STOP_GRACE: Duration = Duration::from_millis(500);

/// The output of a run before an interruption, which a resumed run does not repeat.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecordedOutput {
    /// How often it flushed its output: at most once a pause.
    pub prints: u32,
    /// The `retry` waits it started, which are not repeated.
    pub retries: u32,
    /// How often one of its steps started or ended.
    pub step_changes: u32,
}

/// A plan to run, with its inputs, limits and environment.
pub struct DriveRequest {
    /// The plan.
    pub plan: CheckedPlan,
    /// The context handed to `run`.
    pub context: Value,
    /// The names of the tools the plan may call.
    pub tools: Vec<String>,
    /// Its limits.
    pub limits: Limits,
    /// The number of calls of earlier plans of the same run; ids continue from it. 0 for a first plan.
    pub calls_before: u64,
    /// When the run started by its record: what `date.now` says. Absent: the plan is told that this is not known.
    pub run_started_at: Option<Timestamp>,
    /// This plan's recorded output; none for a new run.
    pub recorded: RecordedOutput,
    /// The workers that may hold the VM; without them it runs in this process.
    pub workers: Option<WorkerPool>,
    /// VMs made ahead, for a run in this process, where one fits.
    pub vms: Option<VmPool>,
    /// Collects the executed lines of the plan. Only a VM in this process can: with `workers`
    /// the run ends with `usage` before it starts.
    pub lines: Option<LineTrace>,
    /// When the run started; its wall time counts from here.
    pub started: Instant,
    /// The time that does not count: sleeps of calls.
    pub idle: Arc<IdleTime>,
    /// Cancelled when a caller or the process ends the run.
    pub cancel: CancellationToken,
    /// Cancelled when a caller requests a pause: running calls finish first.
    pub pause: CancellationToken,
    /// Cancelled by the drive when running calls must stop; shared with the handler.
    pub cancel_calls: CancellationToken,
}

impl DriveRequest {
    /// A plan that starts now in this process, with fresh tokens.
    #[must_use]
    pub fn new(plan: CheckedPlan, context: Value, tools: Vec<String>, limits: Limits) -> Self {
        Self {
            plan,
            context,
            tools,
            limits,
            calls_before: 0,
            run_started_at: None,
            recorded: RecordedOutput::default(),
            workers: None,
            vms: None,
            lines: None,
            started: Instant::now(),
            idle: Arc::default(),
            cancel: CancellationToken::new(),
            pause: CancellationToken::new(),
            cancel_calls: CancellationToken::new(),
        }
    }
}

/// Runs a plan to its end, which the caller records from the outcome.
pub async fn drive(request: DriveRequest, handler: &dyn CallHandler, log: &RunLog) -> RunOutcome {
    let started = request.started;
    let stopping = CancellationToken::new();
    if request.workers.is_some() && request.lines.is_some() {
        return RunOutcome::of_nothing(log.run_id().clone(), lines_unseen());
    }
    let options = VmOptions {
        limits: VmLimits::from(&request.limits),
        tools: request.tools,
        interrupt: Interrupt::default(),
        slice_instructions: SLICE_INSTRUCTIONS,
    };
    let executor =
        VmExecutor::new(request.workers, request.vms, options, stopping.clone()).tracing(request.lines);
    let mut drive = Drive {
        stop_signal: StopSignal {
            cancel: request.cancel,
            pause: request.pause,
            deadline: started + request.limits.wall,
            idle: request.idle,
        },
        wall: request.limits.wall,
        interrupt: executor.interrupt().clone(),
        stopping,
        cancel_calls: request.cancel_calls,
        handler,
        log,
        printed: String::new(),
        steps: Vec::new(),
        recorded: request.recorded,
        usage: VmUsage::default(),
    };
    // Held to the end of the run.
    let _guard = executor
        .steps_in_place()
        .then(|| Guard::new(drive.interrupt.clone(), drive.stopping.clone(), drive.stop_signal.clone()));
    let start = WorkerStart {
        source: request.plan.source().to_owned(),
        name: request.plan.name().to_owned(),
        context: request.context,
        calls_before: request.calls_before,
        run_started_s: request.run_started_at.map(Timestamp::as_second),
    };
    let result = drive.run(executor, start).await;
    // Queued events are recorded before the run's end is reported.
    let result = log.catch_up().await.map_err(Interruption::from).and(result);
    let usage = Usage {
        instructions: drive.usage.instructions,
        memory_peak_bytes: drive.usage.memory_peak_bytes,
        wall_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
        tool_calls: drive.usage.calls,
        ..Usage::default()
    };
    let candidates = Vec::new();
    RunOutcome {
        run_id: log.run_id().clone(),
        result,
        usage,
        printed: drive.printed,
        steps: drive.steps,
        candidates,
        explanation: None,
        iterations: None,
        not_resumable: None,
    }
}

struct Drive<'a> {
    stop_signal: StopSignal,
    wall: Duration,
    interrupt: Interrupt,
    stopping: CancellationToken,
    cancel_calls: CancellationToken,
    handler: &'a dyn CallHandler,
    log: &'a RunLog,
    printed: String,
    steps: Vec<StepReport>,
    recorded: RecordedOutput,
    usage: VmUsage,
}

impl Drive<'_> {
    async fn run(&mut self, mut executor: VmExecutor, start: WorkerStart) -> Result<Value, Interruption> {
        let grace = executor.stop_grace();
        let mut pause = self.watched(grace, executor.start(start)).await;
        loop {
            let reached = match pause {
                Ok(reached) => reached,
                // Its output is lost with the VM; its usage is known up to the last pause.
                Err(why) => {
                    // The VM needs an error to end with, which is not reported.
                    let stopped = executor.abort(Error::cancelled());
                    return self.stop(stopped, Some(why)).await;
                }
            };
            pause = match reached {
                // A resumed run requests these calls again.
                Pause::Calls { .. } | Pause::Wait { .. } if self.stop_signal.is_to_pause() => {
                    Err(self.pause_requested())
                }
                Pause::Calls { calls, printed, reports } => {
                    self.take_output(&printed, reports).await?;
                    match self.answers(calls).await {
                        // The rest of the plan may take no time: it must not run to its end before it is stopped.
                        Ok(_) if self.stop_signal.is_to_pause() => Err(self.pause_requested()),
                        Ok(outcomes) => self.watched(grace, executor.answer(outcomes)).await,
                        Err(why) => Err(why),
                    }
                }
                Pause::Wait { wait, attempt, attempts_max, message, printed, reports } => {
                    self.take_output(&printed, reports).await?;
                    let waited = if self.recorded.retries > 0 {
                        self.recorded.retries -= 1;
                        Ok(())
                    } else {
                        let body = EventBody::StepRetryScheduled { attempt, attempts_max, message };
                        self.log.emit(body, Durability::Queued).await?;
                        self.wait(wait).await
                    };
                    match waited {
                        Ok(()) => self.watched(grace, executor.resume()).await,
                        Err(why) => Err(why),
                    }
                }
                Pause::Done(stopped) => return self.stop(stopped, None).await,
            };
        }
    }

    /// Runs the VM to its next pause, under the wall limit.
    async fn watched(
        &mut self,
        grace: Duration,
        work: impl Future<Output = Result<Pause>>,
    ) -> Result<Pause, Interruption> {
        let mut work = std::pin::pin!(work);
        let reason = tokio::select! {
            biased;
            done = &mut work => return Ok(done?),
            reason = self.stop_signal.reached_or_paused() => reason,
        };
        self.interrupt.trigger(reason);
        self.stopping.cancel();
        if let Ok(done) = tokio::time::timeout(grace, &mut work).await {
            return Ok(done?);
        }
        tracing::error!(run_id = %self.log.run_id(), "a VM did not stop in time and was given up");
        Err(self.interrupted(reason))
    }

    async fn answers(&mut self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        let cancel_calls = self.cancel_calls.clone();
        let handler = self.handler;
        let mut answers = std::pin::pin!(handler.answer(calls));
        let reason = tokio::select! {
            biased;
            answered = &mut answers => return answered,
            reason = self.stop_signal.reached() => reason,
        };
        // The handler gets a moment to record that its calls were cut off.
        cancel_calls.cancel();
        let _ = tokio::time::timeout(STOP_GRACE, answers).await;
        Err(self.interrupted(reason))
    }

    async fn wait(&mut self, wait: Duration) -> Result<(), Interruption> {
        let reason = tokio::select! {
            biased;
            reason = self.stop_signal.reached_or_paused() => reason,
            () = tokio::time::sleep(wait) => return Ok(()),
        };
        Err(self.interrupted(reason))
    }

    /// The end of a plan: as its VM reports it, or `why` the drive stopped it.
    async fn stop(&mut self, stopped: Stopped, why: Option<Interruption>) -> Result<Value, Interruption> {
        self.usage = stopped.usage;
        // A paused plan prints its output since its last call again when it resumes.
        let is_left =
            self.interrupt.reason().is_some() && self.stop_signal.is_to_pause() && stopped.result.is_err();
        if !is_left {
            self.take_output(&stopped.printed, stopped.reports).await?;
        }
        let result = why.map_or_else(|| stopped.result.map_err(Interruption::from), Err);
        if let Err(Interruption::Failed(error)) = &result
            && is_violation(error)
        {
            let message = error.message().to_owned();
            self.log.emit(EventBody::SandboxViolation { message }, Durability::Queued).await?;
        }
        // The VM reports why it stopped; the drive has the numbers.
        match (result, self.interrupt.reason()) {
            (Err(Interruption::Cancelled(error) | Interruption::Failed(error)), Some(reason))
                if reason.ended_with(&error) =>
            {
                Err(self.interrupted(reason))
            }
            (result, _) => result,
        }
    }

    fn interrupted(&self, reason: InterruptReason) -> Interruption {
        match reason {
            // The VM has only one way to be stopped from outside.
            InterruptReason::Cancelled if self.stop_signal.is_to_pause() => self.pause_requested(),
            InterruptReason::Cancelled => Interruption::Cancelled(Error::cancelled()),
            InterruptReason::WallTime => {
                let used = millis(self.wall + self.stop_signal.over());
                Interruption::Failed(LimitName::Wall.exceeded(millis(self.wall), used))
            }
        }
    }

    fn pause_requested(&self) -> Interruption {
        Suspension::Requested { run_id: self.log.run_id().clone() }.into()
    }

    /// Records what the plan printed and how its steps changed, in the order in which it did.
    async fn take_output(&mut self, printed: &str, reports: Vec<StepReport>) -> Result<()> {
        let mut rest = printed;
        for report in reports {
            let told = printed.len() - rest.len();
            let bytes = usize::try_from(report.printed_bytes).unwrap_or(usize::MAX).saturating_sub(told);
            // A worker may say anything; what it printed is put out once and whole.
            if let Some((before, after)) = rest.split_at_checked(bytes) {
                self.take_print(before).await?;
                rest = after;
            }
            self.take_report(report).await?;
        }
        self.take_print(rest).await
    }

    async fn take_report(&mut self, report: StepReport) -> Result<()> {
        let body = match report.state {
            StepState::Pending | StepState::Running => EventBody::StepStarted {
                step: report.name.clone(),
                depends_on: report.depends_on.clone(),
                line: report.line,
                attempts_max: report.attempts_max,
            },
            StepState::Complete | StepState::Failed | StepState::Skipped => EventBody::StepFinished {
                step: report.name.clone(),
                state: report.state.into(),
                attempts: report.attempts,
                code: report.code.clone(),
                message: report.message.clone(),
            },
        };
        match self.steps.iter_mut().find(|step| step.name == report.name) {
            Some(step) => *step = report,
            None => self.steps.push(report),
        }
        if self.recorded.step_changes > 0 {
            self.recorded.step_changes -= 1;
            return Ok(());
        }
        self.log.emit(body, Durability::Queued).await
    }

    async fn take_print(&mut self, text: &str) -> Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.printed.push_str(text);
        if self.recorded.prints > 0 {
            self.recorded.prints -= 1;
            return Ok(());
        }
        self.log.emit(EventBody::Printed { text: text.to_owned() }, Durability::Queued).await
    }
}

fn lines_unseen() -> Error {
    Error::new(ErrorCode::Usage, "which lines of a plan run is not seen in a worker process")
        .with_help("run the plan in this process, on the engine `mlua`")
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
