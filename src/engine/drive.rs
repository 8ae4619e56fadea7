//! The one loop that awaits: VM to its next pause, calls to their handler, and round again.
//!
//! The VM runs on a blocking thread, in place (`in_place`) or in a worker process, step by step, so a looping
//! plan never holds up the runtime. Time is watched here and nowhere else: at the wall limit the VM is
//! interrupted and the calls under way are cancelled; a VM that does not stop within its grace (a
//! single library call can outlast it) is given up, its process ended, and the run ends without it.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use luaplan_base::{CallOutcome, CallRequest, Error, ErrorCode, LimitName, Limits, Result, Usage, Value};
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

/// How long a cancelled call has to come to its end.
const STOP_GRACE: Duration = Duration::from_millis(500);

/// What a run put out before it was broken off; it is not put out again when the run goes on.
#[derive(Debug, Clone, Copy, Default)]
pub struct RecordedOutput {
    /// How often it handed out what it printed: once a pause at most.
    pub prints: u32,
    /// Waits of `retry` begun; they are not waited for again.
    pub retries: u32,
}

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
    /// What is on record of this plan's output; nothing for a run that begins.
    pub recorded: RecordedOutput,
    /// Where the VM lives: in a worker of this pool, or without one in this process.
    pub workers: Option<WorkerPool>,
    /// VMs made ahead, of which a run in this process takes one where it fits.
    pub vms: Option<VmPool>,
    /// Where the lines of the plan that run are noted. Only a VM of this process can: with `workers`
    /// the run ends with `usage` before it begins.
    pub lines: Option<LineTrace>,
    /// When the run began; its wall time counts from here.
    pub started: Instant,
    /// What does not count: time that calls slept.
    pub idle: Arc<IdleTime>,
    /// Cancelled when somebody ends the run.
    pub cancel: CancellationToken,
    /// Cancelled when somebody asks the run to stand still: calls under way come to their end first.
    pub pause: CancellationToken,
    /// Cancelled by the drive when the calls under way must stop; given to the handler as well.
    pub cancel_calls: CancellationToken,
}

impl DriveRequest {
    /// A plan that begins now in this process, and that nobody has cancelled.
    #[must_use]
    pub fn new(plan: CheckedPlan, context: Value, tools: Vec<String>, limits: Limits) -> Self {
        Self {
            plan,
            context,
            tools,
            limits,
            calls_before: 0,
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

/// Runs a plan to its end. The end is in the outcome; the caller records it.
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
    };
    let result = drive.run(executor, start).await;
    // What nobody waited for is on record before anybody is told how the run ended.
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
        candidates,
        explanation: None,
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
                // What was printed is lost with the VM, what was used is known up to its last pause.
                Err(why) => {
                    // The VM has a reason of its own to end with, which nobody is told.
                    let stopped = executor.abort(Error::cancelled());
                    return self.stop(stopped, Some(why)).await;
                }
            };
            pause = match reached {
                // What was asked for is asked for again when the run goes on.
                Pause::Calls { .. } | Pause::Wait { .. } if self.stop_signal.is_to_pause() => {
                    Err(self.pause_requested())
                }
                Pause::Calls { calls, printed } => {
                    self.take_print(&printed).await?;
                    match self.answers(calls).await {
                        Ok(outcomes) => self.watched(grace, executor.answer(outcomes)).await,
                        Err(why) => Err(why),
                    }
                }
                Pause::Wait { wait, attempt, attempts_max, message, printed } => {
                    self.take_print(&printed).await?;
                    let waited = if self.recorded.retries > 0 {
                        self.recorded.retries -= 1;
                        Ok(())
                    } else {
                        let body = EventBody::StepRetryScheduled { attempt, attempts_max, message };
                        self.log.emit(body, Durability::Queued).await?;
                        self.wait(wait).await
                    };
                    match waited {
                        Ok(()) => self.watched(grace, executor.go_on()).await,
                        Err(why) => Err(why),
                    }
                }
                Pause::Done(stopped) => return self.stop(stopped, None).await,
            };
        }
    }

    /// Lets the VM come to its next pause, watching the time.
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
        // The handler gets a moment to record that its calls were cut.
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

    /// The end of a plan: as its VM tells it, or `why` it was taken from its VM.
    async fn stop(&mut self, stopped: Stopped, why: Option<Interruption>) -> Result<Value, Interruption> {
        self.usage = stopped.usage;
        // What a paused plan printed since its last call it prints again when it goes on.
        let is_left =
            self.interrupt.reason().is_some() && self.stop_signal.is_to_pause() && stopped.result.is_err();
        if !is_left {
            self.take_print(&stopped.printed).await?;
        }
        let result = why.map_or_else(|| stopped.result.map_err(Interruption::from), Err);
        if let Err(Interruption::Failed(error)) = &result
            && is_violation(error)
        {
            let message = error.message().to_owned();
            self.log.emit(EventBody::SandboxViolation { message }, Durability::Queued).await?;
        }
        // The VM knows why it was stopped, the drive knows the numbers.
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
            // The VM has one way to be stopped by somebody.
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
