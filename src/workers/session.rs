//! One run in a worker: the host's checks, message by message.

use std::time::Duration;

use luaplan_base::{
    CallArguments, CallId, CallOutcome, CallRequest, Error, ErrorCode, LimitName, Result, STEP_DEPENDS_MAX,
    STEP_MESSAGE_BYTES_MAX, STEP_NAME_BYTES_MAX, STEPS_MAX, StepReport, StepState, Value,
};
use luaplan_vm::{Stopped, VmLimits, VmOptions, VmUsage};

use super::message::{
    self, Call, Ended, FromWorker, MessageFault, Options, Outcome, Output, Start, ToWorker,
};
use super::pool::{WorkerPlace, WorkerPool};
use super::process::Worker;
use super::signal::WorkerSignals;

/// What one frame may hold beyond the run's own limits.
const FRAME_SLACK_BYTES: u64 = 16 << 20;

/// Why a run paused or ended.
#[derive(Debug)]
pub enum Pause {
    /// The plan waits for tool calls.
    Calls {
        /// The calls, in the order of the program.
        calls: Vec<CallRequest>,
        /// The text printed since the previous pause.
        printed: String,
        /// The steps that came to another state since the previous pause, in order.
        reports: Vec<StepReport>,
    },
    /// The plan waits before another attempt of `retry`.
    Wait {
        /// How long to wait.
        wait: Duration,
        /// The attempt that failed, counted from 1.
        attempt: u32,
        /// How many attempts there are.
        attempts_max: u32,
        /// Why it failed.
        message: String,
        /// The text printed since the previous pause.
        printed: String,
        /// The steps that came to another state since the previous pause, in order.
        reports: Vec<StepReport>,
    },
    /// The plan has ended, with a result or an error, or its worker has.
    Done(Stopped),
}

/// A plan to start in a worker.
#[derive(Debug)]
pub struct WorkerStart {
    /// The plan's source.
    pub source: String,
    /// The plan's name in messages.
    pub name: String,
    /// The context for `run`.
    pub context: Value,
    /// Steps of the same run by earlier plans; ids continue from there.
    pub calls_before: u64,
    /// When the run started, in Unix seconds; without it the plan is told that this is not known.
    pub run_started_s: Option<i64>,
}

/// A worker that serves one run. Dropping it before the run's end kills its process.
pub struct WorkerRun {
    worker: Option<Worker>,
    place: WorkerPlace,
    signals: WorkerSignals,
    options: Options,
    frame_bytes_max: u64,
    memory_bytes: u64,
    printed_bytes_left: u64,
    reports_left: u64,
    sequence: u64,
    calls_out: usize,
    usage: VmUsage,
    is_waiting: bool,
}

impl WorkerPool {
    /// A worker for a run with these options: a ready one, or a new one.
    ///
    /// # Errors
    /// `worker_unavailable` and `worker_protocol` where none can be started.
    pub async fn take(&self, options: &VmOptions) -> Result<WorkerRun> {
        let (worker, place) = self.worker(options).await?;
        Ok(WorkerRun::new(worker, place, options))
    }
}

impl WorkerRun {
    fn new(worker: Worker, place: WorkerPlace, options: &VmOptions) -> Self {
        let limits = &options.limits;
        Self {
            signals: worker.signals().clone(),
            worker: Some(worker),
            place,
            options: Options::new(limits, options.tools.clone()),
            frame_bytes_max: frame_bytes_max(limits),
            memory_bytes: limits.memory_bytes,
            printed_bytes_left: limits.print_bytes,
            reports_left: STEPS_MAX * 2,
            sequence: 0,
            calls_out: 0,
            usage: VmUsage::default(),
            is_waiting: false,
        }
    }

    /// The signals to the process, for the task that watches the time.
    #[must_use]
    pub fn signals(&self) -> WorkerSignals {
        self.signals.clone()
    }

    /// The worker's process id.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.worker.as_ref().map(|worker| worker.id)
    }

    /// What was used, as of the last pause.
    #[must_use]
    pub fn usage(&self) -> VmUsage {
        self.usage
    }

    /// Runs a plan to its first pause.
    pub async fn start(&mut self, start: WorkerStart) -> Pause {
        self.sequence = start.calls_before;
        let WorkerStart { source, name, context, calls_before, run_started_s } = start;
        let same = self.worker.as_ref().is_some_and(|worker| worker.prepared == self.options);
        let options = (!same).then(|| self.options.clone());
        let frame_bytes_max = self.frame_bytes_max;
        let start = Start { options, source, name, context, calls_before, run_started_s, frame_bytes_max };
        self.exchange(&ToWorker::Start(Box::new(start))).await
    }

    /// Resumes with the outcomes of the calls, in their order. A different number of outcomes ends the run
    /// with `internal`.
    pub async fn answer(&mut self, outcomes: Vec<CallOutcome>) -> Pause {
        if outcomes.len() != self.calls_out {
            let message = "the number of answers differs from the number of calls";
            return Pause::Done(self.abort(Error::new(ErrorCode::Internal, message)));
        }
        self.calls_out = 0;
        let outcomes = outcomes.into_iter().map(Outcome::from).collect();
        self.exchange(&ToWorker::Answers(outcomes)).await
    }

    /// Resumes with the next attempt after a wait.
    pub async fn resume(&mut self) -> Pause {
        if !std::mem::take(&mut self.is_waiting) {
            let error = Error::new(ErrorCode::Internal, "a run went on that did not wait");
            return Pause::Done(self.abort(error));
        }
        self.exchange(&ToWorker::Resume).await
    }

    /// Ends the run and its process, for a reason the plan cannot catch.
    pub fn abort(&mut self, reason: Error) -> Stopped {
        self.worker = None;
        Stopped { result: Err(reason), usage: self.usage, printed: String::new(), reports: Vec::new() }
    }

    async fn exchange(&mut self, message: &ToWorker) -> Pause {
        let frame = match message::encode(message, self.frame_bytes_max) {
            Ok(frame) => frame,
            Err(fault) => {
                let error = not_sent(&fault, self.memory_bytes);
                return Pause::Done(self.abort(error));
            }
        };
        let Some(worker) = &mut self.worker else {
            let error = Error::new(ErrorCode::Internal, "a run went on after its end");
            return Pause::Done(self.abort(error));
        };
        let limit = self.frame_bytes_max;
        let received = match worker.send(&frame).await {
            Ok(()) => worker.receive(limit).await,
            Err(fault) => Err(fault),
        };
        let step = match received {
            Ok(message) => self.take(message),
            Err(fault) => Err(fault),
        };
        match (step, &mut self.worker) {
            (Ok(step), _) => step,
            (Err(fault), Some(worker)) => {
                let error = worker.broken(&fault).await;
                Pause::Done(self.abort(error))
            }
            (Err(_), None) => {
                Pause::Done(self.abort(Error::new(ErrorCode::Internal, "a run lost its worker")))
            }
        }
    }

    fn take(&mut self, message: FromWorker) -> Result<Pause, MessageFault> {
        match message {
            FromWorker::Calls { calls, output, usage } => {
                let Output { printed, reports } = self.count(usage.into(), output)?;
                let calls = self.requests(calls)?;
                Ok(Pause::Calls { calls, printed, reports })
            }
            FromWorker::Wait { wait_ms, attempt, attempts_max, message, output, usage } => {
                let Output { printed, reports } = self.count(usage.into(), output)?;
                self.is_waiting = true;
                let wait = Duration::from_millis(wait_ms);
                Ok(Pause::Wait { wait, attempt, attempts_max, message, printed, reports })
            }
            FromWorker::Done { result, output, usage } => {
                let Output { printed, reports } = self.count(usage.into(), output)?;
                let result = match result {
                    Ended::Returned(value) => Ok(value),
                    Ended::Broke(fault) => Err(fault.into_error().map_err(MessageFault::Content)?),
                };
                if let Some(worker) = self.worker.take() {
                    self.place.give_back(worker);
                }
                Ok(Pause::Done(Stopped { result, usage: self.usage, printed, reports }))
            }
        }
    }

    fn count(&mut self, usage: VmUsage, output: Output) -> Result<Output, MessageFault> {
        let fault = |what: &str| MessageFault::Content(what.to_owned());
        // A text above the limit is not printed, so an honest worker stays within it.
        let left = self.printed_bytes_left.checked_sub(output.printed.len() as u64);
        self.printed_bytes_left = left.ok_or_else(|| fault("more was printed than is allowed"))?;
        // Each step starts and ends once.
        let reports_left = self.reports_left.checked_sub(output.reports.len() as u64);
        self.reports_left = reports_left.ok_or_else(|| fault("more steps than a plan may have"))?;
        if !output.reports.iter().all(is_possible) {
            return Err(fault("a step that no plan may have"));
        }
        self.usage = usage;
        Ok(output)
    }

    /// Gives the calls their ids: each pause is one step, and the branches of a batch share it.
    fn requests(&mut self, calls: Vec<Call>) -> Result<Vec<CallRequest>, MessageFault> {
        let is_batch = calls.first().is_some_and(|call| call.is_branch);
        if calls.is_empty() || (!is_batch && calls.len() > 1) {
            return Err(MessageFault::Content("a pause for calls without calls that go together".to_owned()));
        }
        self.sequence += 1;
        self.calls_out = calls.len();
        let requests = calls.into_iter().enumerate().map(|(place, call)| CallRequest {
            id: if is_batch {
                CallId::branch(self.sequence, place + 1)
            } else {
                CallId::single(self.sequence)
            },
            tool: call.tool,
            arguments: CallArguments(call.arguments),
            line: call.line,
        });
        Ok(requests.collect())
    }
}

/// Whether a report is one that the VM may make.
pub(super) fn is_possible(report: &StepReport) -> bool {
    let is_name = |name: &str| {
        (1..=STEP_NAME_BYTES_MAX).contains(&name.len()) && !name.chars().any(|c| c.is_ascii_control())
    };
    let message_bytes = report.message.as_ref().map_or(0, String::len);
    is_name(&report.name)
        && report.depends_on.len() <= STEP_DEPENDS_MAX
        && report.depends_on.iter().all(|name| is_name(name))
        && message_bytes <= STEP_MESSAGE_BYTES_MAX
        && report.code.as_ref().map_or(0, String::len) <= STEP_MESSAGE_BYTES_MAX
        && report.state != StepState::Pending
}

fn frame_bytes_max(limits: &VmLimits) -> u64 {
    limits
        .memory_bytes
        .saturating_mul(2)
        .saturating_add(limits.output_bytes)
        .saturating_add(limits.print_bytes)
        .saturating_add(FRAME_SLACK_BYTES)
}

/// Every value takes at least as much memory in a VM as in a frame, so the VM could not have held one
/// that exceeds a frame.
fn not_sent(fault: &MessageFault, memory_bytes: u64) -> Error {
    match fault {
        MessageFault::Frame(super::frame::FrameFault::TooLong { announced, .. }) => {
            LimitName::Memory.exceeded(memory_bytes, *announced)
        }
        fault => Error::new(ErrorCode::ValueTooDeep, fault.to_string()),
    }
}
