//! Executes the VM of one run to its next pause: on a thread of this process, or in a
//! worker.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use luaplan_base::{CallOutcome, Error, ErrorCode, Result};
use luaplan_vm::{
    Interrupt, LineTrace, PausedWait, PendingCalls, Step, Stopped, Vm, VmOptions, VmPool, VmUsage,
};
use luaplan_workers::{Pause, WorkerPool, WorkerRun, WorkerSignals, WorkerStart};

use super::cpu_scheduler::{CpuScheduler, CpuTurn};
use super::in_place::InPlace;

/// How long an interrupted VM has to end. A process can be killed and a thread cannot, so
/// a thread gets longer.
const THREAD_STOP_GRACE: Duration = Duration::from_millis(500);
const PROCESS_STOP_GRACE: Duration = Duration::from_millis(100);

/// A thread that holds its turn for so long is inside code that cannot pause; another run gets
/// its turn meanwhile.
const OVERRUN: Duration = Duration::from_millis(20);

/// A run's time: how long it has computed, and whether it must end.
struct ComputeClock {
    turns: CpuScheduler,
    used: Duration,
    /// Cancelled once the VM was interrupted: from then on the run waits for no turn.
    stopping: CancellationToken,
}

impl ComputeClock {
    /// A turn; `None` for a run that must end.
    async fn turn(&self) -> Option<CpuTurn> {
        tokio::select! {
            biased;
            turn = self.turns.take(self.used) => Some(turn),
            () = self.stopping.cancelled() => None,
        }
    }

    fn give_up(&mut self, turn: &mut Option<CpuTurn>) {
        if let Some(turn) = turn.take() {
            self.used += turn.held();
        }
    }
}

/// Returns when the turn is over; never without a turn.
async fn over(turn: Option<&CpuTurn>) {
    match turn {
        Some(turn) => turn.over().await,
        None => std::future::pending().await,
    }
}

/// Returns when a thread should have paused for others and did not.
async fn overrun(turn: Option<&CpuTurn>) {
    tokio::time::sleep(OVERRUN).await;
    over(turn).await;
}

/// The VM of one run, on threads of this process or in a worker.
pub(super) struct VmExecutor {
    clock: ComputeClock,
    in_place: InPlace,
    options: VmOptions,
    usage: VmUsage,
    lines: Option<LineTrace>,
    kind: Kind,
}

enum Kind {
    Thread { held: Option<HeldVm>, vms: Option<VmPool> },
    Process { pool: WorkerPool, run: Option<Box<WorkerRun>> },
}

enum HeldVm {
    Ready(Vm),
    Calls(PendingCalls),
    Wait(PausedWait),
}

impl VmExecutor {
    /// An executor in a worker of the pool, or, without a pool, in this process, for a VM made with `options`;
    /// one of `vms` where one fits. `stopping` is cancelled after the interrupt was triggered.
    pub(super) fn new(
        workers: Option<WorkerPool>,
        vms: Option<VmPool>,
        mut options: VmOptions,
        stopping: CancellationToken,
    ) -> Self {
        let clock = ComputeClock { turns: CpuScheduler::of_this_process(), used: Duration::ZERO, stopping };
        let in_place = if workers.is_some() { InPlace::never() } else { InPlace::of_this_runtime() };
        let kind = match workers {
            Some(pool) => Kind::Process { pool, run: None },
            None => {
                let ready = vms.as_ref().and_then(|vms| vms.ready_for(&options));
                if let Some(vm) = &ready {
                    options.interrupt = vm.interrupt();
                }
                Kind::Thread { held: ready.map(HeldVm::Ready), vms }
            }
        };
        Self { clock, in_place, options, usage: VmUsage::default(), lines: None, kind }
    }

    /// Collects the executed lines, in a VM of this process.
    pub(super) fn tracing(mut self, lines: Option<LineTrace>) -> Self {
        self.lines = lines;
        self
    }

    /// The handle that interrupts the VM.
    pub(super) fn interrupt(&self) -> &Interrupt {
        &self.options.interrupt
    }

    /// Whether steps may run in the task that drives the run, which then cannot enforce its time.
    pub(super) const fn steps_in_place(&self) -> bool {
        self.in_place.is_allowed()
    }

    /// How long the VM has to end once it was interrupted.
    pub(super) fn stop_grace(&self) -> Duration {
        match self.kind {
            Kind::Thread { .. } => THREAD_STOP_GRACE,
            Kind::Process { .. } => PROCESS_STOP_GRACE,
        }
    }

    /// Runs a plan to its first pause.
    ///
    /// # Errors
    /// `internal` where the thread panics, `worker_…` where no worker is available.
    pub(super) async fn start(&mut self, start: WorkerStart) -> Result<Pause> {
        match &mut self.kind {
            Kind::Process { pool, run } => {
                let run = run.insert(Box::new(pool.take(&self.options).await?));
                let signals = run.signals();
                Ok(in_worker(&mut self.clock, &self.options.interrupt, signals, run.start(start)).await)
            }
            Kind::Thread { held, .. } => {
                let ready = match held.take() {
                    Some(HeldVm::Ready(vm)) => Ok(vm),
                    _ => Err(self.options.clone()),
                };
                let lines = self.lines.clone();
                let in_place = ready.is_ok() && self.in_place.takes_start(&start.source, &start.context);
                self.until_pause(in_place, move || match ready.or_else(Vm::new) {
                    Ok(vm) => {
                        let vm =
                            vm.numbering_calls_after(start.calls_before).run_started_at(start.run_started_s);
                        let vm = match lines {
                            Some(lines) => vm.tracing_lines(lines),
                            None => vm,
                        };
                        vm.start(&start.source, &start.name, &start.context)
                    }
                    Err(error) => Step::Done(gone(error, VmUsage::default())),
                })
                .await
            }
        }
    }

    /// Resumes with the outcomes of the calls, in their order.
    ///
    /// # Errors
    /// `internal` where the thread panics.
    pub(super) async fn answer(&mut self, outcomes: Vec<CallOutcome>) -> Result<Pause> {
        match &mut self.kind {
            Kind::Process { run: Some(run), .. } => {
                let signals = run.signals();
                Ok(in_worker(&mut self.clock, &self.options.interrupt, signals, run.answer(outcomes)).await)
            }
            Kind::Thread { held, .. } => match held.take() {
                Some(HeldVm::Calls(pending)) => {
                    let in_place = self.in_place.takes_answers(&outcomes);
                    self.until_pause(in_place, move || pending.answer(outcomes)).await
                }
                _ => Err(not_there("calls")),
            },
            Kind::Process { .. } => Err(not_there("calls")),
        }
    }

    /// Resumes after a wait.
    ///
    /// # Errors
    /// `internal` where the thread panics.
    pub(super) async fn resume(&mut self) -> Result<Pause> {
        match &mut self.kind {
            Kind::Process { run: Some(run), .. } => {
                let signals = run.signals();
                Ok(in_worker(&mut self.clock, &self.options.interrupt, signals, run.resume()).await)
            }
            Kind::Thread { held, .. } => match held.take() {
                Some(HeldVm::Wait(paused)) => {
                    let in_place = self.in_place.is_allowed();
                    self.until_pause(in_place, move || paused.resume()).await
                }
                _ => Err(not_there("a wait")),
            },
            Kind::Process { .. } => Err(not_there("a wait")),
        }
    }

    /// Ends the run for a reason the plan cannot catch, and its worker with it.
    pub(super) fn abort(&mut self, reason: Error) -> Stopped {
        match &mut self.kind {
            Kind::Process { run: Some(run), .. } => run.abort(reason),
            Kind::Process { run: None, .. } => gone(reason, self.usage),
            Kind::Thread { held, .. } => match held.take() {
                Some(HeldVm::Calls(pending)) => pending.abort(reason),
                Some(HeldVm::Wait(paused)) => paused.abort(reason),
                Some(HeldVm::Ready(_)) | None => gone(reason, self.usage),
            },
        }
    }

    fn hold(&mut self, pause: HeldVm) {
        if let Kind::Thread { held, .. } = &mut self.kind {
            *held = Some(pause);
        }
    }

    /// Runs the VM to its next pause: in place while that is allowed, then on a blocking thread, one turn
    /// after the other.
    async fn until_pause(
        &mut self,
        in_place: bool,
        work: impl FnOnce() -> Step + Send + 'static,
    ) -> Result<Pause> {
        let tried = if in_place { self.in_place.step(work)? } else { Err(work) };
        let mut step = match tried {
            Ok((step, time)) => {
                self.clock.used += time;
                step
            }
            Err(work) => self.one_turn(work).await?,
        };
        loop {
            step = match step {
                Step::Slice(paused) => {
                    self.usage = paused.usage();
                    self.one_turn(move || paused.resume()).await?
                }
                Step::Calls(mut pending) => {
                    self.usage = pending.usage();
                    let calls = std::mem::take(&mut pending.calls);
                    let (printed, reports) = (pending.take_printed(), pending.take_reports());
                    self.hold(HeldVm::Calls(pending));
                    return Ok(Pause::Calls { calls, printed, reports });
                }
                Step::Wait(mut paused) => {
                    self.usage = paused.usage();
                    let pause = Pause::Wait {
                        wait: paused.wait,
                        attempt: paused.attempt,
                        attempts_max: paused.attempts_max,
                        message: paused.message.clone(),
                        printed: paused.take_printed(),
                        reports: paused.take_reports(),
                    };
                    self.hold(HeldVm::Wait(paused));
                    return Ok(pause);
                }
                Step::Done(stopped) => return Ok(Pause::Done(stopped)),
            };
        }
    }

    /// Runs slices until the turn is over or the VM pauses for another reason.
    async fn one_turn(&mut self, work: impl FnOnce() -> Step + Send + 'static) -> Result<Step> {
        let mut turn = self.clock.turn().await;
        let turns = self.clock.turns.clone();
        let mut thread = tokio::task::spawn_blocking(move || {
            let since = std::time::Instant::now();
            let mut step = work();
            while let Step::Slice(paused) = step {
                if turns.is_over(since.elapsed()) {
                    return (Step::Slice(paused), since.elapsed());
                }
                step = paused.resume();
            }
            (step, since.elapsed())
        });
        let done = tokio::select! {
            biased;
            done = &mut thread => done,
            () = overrun(turn.as_ref()) => {
                self.clock.give_up(&mut turn);
                thread.await
            }
        };
        self.clock.give_up(&mut turn);
        let (step, time) =
            done.map_err(|error| Error::new(ErrorCode::Internal, "the VM broke off").with_source(error))?;
        self.in_place.took(time);
        Ok(step)
    }
}

impl Drop for VmExecutor {
    /// Makes VMs for later runs, on a blocking thread.
    fn drop(&mut self) {
        if let Kind::Thread { vms: Some(vms), .. } = &self.kind
            && vms.wants_refill()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            let vms = vms.clone();
            runtime.spawn_blocking(move || {
                // A run that needs a VM gets and reports the same error.
                let _ = vms.refill();
            });
        }
    }
}

/// Lets a worker compute until it pauses, one turn after the other: at the end of a turn the process
/// is stopped until the next.
async fn in_worker(
    clock: &mut ComputeClock,
    interrupt: &Interrupt,
    signals: WorkerSignals,
    exchange: impl Future<Output = Pause>,
) -> Pause {
    let mut turn = clock.turn().await;
    let mut exchange = std::pin::pin!(exchange);
    let stopping = clock.stopping.clone();
    let mut is_told = false;
    let pause = loop {
        tokio::select! {
            biased;
            pause = &mut exchange => break pause,
            () = stopping.cancelled(), if !is_told => {
                is_told = true;
                if let Some(reason) = interrupt.reason() {
                    signals.interrupt(reason);
                }
            }
            () = over(turn.as_ref()), if !is_told => {
                signals.hold();
                clock.give_up(&mut turn);
                // Its last message may still be in the pipe while it is stopped.
                let next = tokio::select! {
                    biased;
                    pause = &mut exchange => Err(pause),
                    next = clock.turn() => Ok(next),
                };
                signals.resume();
                match next {
                    Ok(next) => turn = next,
                    Err(pause) => break pause,
                }
            }
        }
    };
    clock.give_up(&mut turn);
    pause
}

/// The end of a run whose VM is gone.
fn gone(reason: Error, usage: VmUsage) -> Stopped {
    Stopped { result: Err(reason), usage, printed: String::new(), reports: Vec::new() }
}

fn not_there(what: &str) -> Error {
    Error::new(ErrorCode::Internal, format!("a VM that does not pause for {what} was told to go on"))
}
