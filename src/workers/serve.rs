//! The worker's side of the protocol: a loop over two byte streams and a machine, no more.

use std::io::{Read, Write};

use luaplan_base::{CallOutcome, Error, ErrorCode, Result, Value};
use luaplan_vm::{Interrupt, Machine, PausedWait, PendingCalls, Step, Stopped, VmUsage};

use super::confine::Confinement;
use super::frame;
use super::message::{
    Call, Ended, FromWorker, Hello, MessageFault, Options, Outcome, Output, Prepare, Start, ToWorker,
    WireError, decode, decode_first, encode, encode_first,
};

/// Serves up to `runs_max` runs, one after the other, and ends early where the host closes the pipe.
///
/// # Errors
/// A message outside the protocol, or a pipe that failed.
pub(super) fn serve<M: Machine>(
    input: &mut impl Read,
    output: &mut impl Write,
    interrupt: &Interrupt,
    runs_max: u32,
    confinement: Confinement,
) -> Result<(), MessageFault> {
    let mut line = Line { input, output, body: Vec::new() };
    frame::write(line.output, &encode_first(&Hello { confinement })?)?;
    frame::read(line.input, frame::FRAME_BYTES_MAX, &mut line.body)?;
    let Prepare { options } = decode_first(&line.body)?;
    // A failed warm-up is no error: the plan may not need what failed.
    let _ = warm_up::<M>(&options, interrupt);
    for _ in 0..runs_max {
        let ready = M::new(options.vm_options(interrupt.clone()));
        let Some(start) = line.start()? else { return Ok(()) };
        line.run(ready, &options, start, interrupt)?;
    }
    // Ending takes the processor from a host that has just got the result, so the host decides
    // when.
    match line.start()? {
        None => Ok(()),
        Some(_) => Err(MessageFault::Content("more runs than were announced".to_owned())),
    }
}

/// Exercises what a first plan would otherwise wait for: values both ways, a call, a loop, a library.
const WARM_UP: &str = r#"
function run(context)
  local list = {}
  for place, item in ipairs(context) do
    list[#list + 1] = tostring(place) .. string.format("%d", item)
  end
  local answer = TOOL{ n = 1 }
  return { answer = answer, text = table.concat(list, ", ") }
end
"#;

/// Runs a plan of the worker's own in a separate VM, so that the system has loaded the code and memory
/// that every run touches before the first run.
fn warm_up<M: Machine>(options: &Options, interrupt: &Interrupt) -> Result<(), MessageFault> {
    let integers = |count| Value::Array((1..=count).map(Value::Integer).collect());
    let start = ToWorker::Start(Box::new(Start {
        options: None,
        source: WARM_UP.replace("TOOL", options.tools.first().map_or("type", String::as_str)),
        name: "warm-up".to_owned(),
        context: integers(3),
        calls_before: 0,
        run_started_s: None,
        frame_bytes_max: frame::FRAME_BYTES_MAX,
    }));
    let answers = ToWorker::Answers(vec![Outcome::Good(integers(3))]);
    let mut said = encode(&start, frame::FRAME_BYTES_MAX)?;
    said.extend(encode(&answers, frame::FRAME_BYTES_MAX)?);
    let mut line = Line { input: &mut said.as_slice(), output: &mut Vec::new(), body: Vec::new() };
    let ready = M::new(options.vm_options(interrupt.clone()));
    match line.start()? {
        Some(start) => line.run(ready, options, start, interrupt),
        None => Ok(()),
    }
}

/// The two pipes, and the buffer for messages.
struct Line<'a, R, W> {
    input: &'a mut R,
    output: &'a mut W,
    body: Vec<u8>,
}

impl<R: Read, W: Write> Line<'_, R, W> {
    /// The next run; `None` where the host has closed the pipe.
    fn start(&mut self) -> Result<Option<Start>, MessageFault> {
        match frame::read(self.input, frame::FRAME_BYTES_MAX, &mut self.body) {
            Err(frame::FrameFault::Closed) => return Ok(None),
            read => read?,
        }
        match decode(&self.body)? {
            ToWorker::Start(start) => Ok(Some(*start)),
            _ => Err(MessageFault::Content("a run goes on that did not begin".to_owned())),
        }
    }

    fn run<M: Machine>(
        &mut self,
        ready: Result<M>,
        prepared: &Options,
        start: Start,
        interrupt: &Interrupt,
    ) -> Result<(), MessageFault> {
        let Start { options, source, name, context, calls_before, run_started_s, frame_bytes_max } = start;
        let machine = match options {
            Some(options) if options != *prepared => {
                // The prepared one goes first: both together might not fit.
                drop(ready);
                M::new(options.vm_options(interrupt.clone()))
            }
            _ => ready,
        };
        let mut step = match machine {
            Ok(machine) => machine
                .numbering_calls_after(calls_before)
                .run_started_at(run_started_s)
                .start(&source, &name, &context),
            Err(error) => Step::Done(stopped(error)),
        };
        drop((source, context));
        loop {
            step = match step {
                Step::Slice(paused) => paused.resume(),
                Step::Calls(pending) => self.calls(pending, frame_bytes_max)?,
                Step::Wait(paused) => self.wait(paused, frame_bytes_max)?,
                Step::Done(stopped) => return self.done(stopped, frame_bytes_max),
            };
        }
    }

    fn calls<M: Machine>(
        &mut self,
        mut pending: PendingCalls<M>,
        frame_bytes_max: u64,
    ) -> Result<Step<M>, MessageFault> {
        let calls = std::mem::take(&mut pending.calls).into_iter().map(Call::from).collect();
        let output = Output { printed: pending.take_printed(), reports: pending.take_reports() };
        let message = FromWorker::Calls { calls, output, usage: pending.usage().into() };
        match encode(&message, frame_bytes_max) {
            Ok(frame) => frame::write(self.output, &frame)?,
            Err(fault) => {
                let FromWorker::Calls { output, .. } = message else { return Err(fault) };
                let mut stopped = pending.abort(too_large("the arguments of these calls", &fault));
                (stopped.printed, stopped.reports) = (output.printed, output.reports);
                return Ok(Step::Done(stopped));
            }
        }
        drop(message);
        match self.reply(frame_bytes_max)? {
            ToWorker::Answers(outcomes) => {
                Ok(pending.answer(outcomes.into_iter().map(CallOutcome::from).collect()))
            }
            _ => Err(MessageFault::Content("calls were not answered".to_owned())),
        }
    }

    fn wait<M: Machine>(
        &mut self,
        mut paused: PausedWait<M>,
        frame_bytes_max: u64,
    ) -> Result<Step<M>, MessageFault> {
        let message = FromWorker::Wait {
            wait_ms: u64::try_from(paused.wait.as_millis()).unwrap_or(u64::MAX),
            attempt: paused.attempt,
            attempts_max: paused.attempts_max,
            message: paused.message.clone(),
            output: Output { printed: paused.take_printed(), reports: paused.take_reports() },
            usage: paused.usage().into(),
        };
        frame::write(self.output, &encode(&message, frame_bytes_max)?)?;
        match self.reply(frame_bytes_max)? {
            ToWorker::Resume => Ok(paused.resume()),
            _ => Err(MessageFault::Content("a wait was not ended".to_owned())),
        }
    }

    fn done(&mut self, stopped: Stopped, frame_bytes_max: u64) -> Result<(), MessageFault> {
        let Stopped { result, usage, printed, reports } = stopped;
        let result = match result {
            Ok(value) => Ended::Returned(value),
            Err(error) => Ended::Broke(WireError::from(&error)),
        };
        let usage = usage.into();
        let output = Output { printed, reports };
        let frame = match encode(&FromWorker::Done { result, output, usage }, frame_bytes_max) {
            Ok(frame) => frame,
            Err(fault) => {
                let result = Ended::Broke(WireError::from(&too_large("the result of the run", &fault)));
                encode(&FromWorker::Done { result, output: Output::default(), usage }, frame_bytes_max)?
            }
        };
        Ok(frame::write(self.output, &frame)?)
    }

    fn reply(&mut self, frame_bytes_max: u64) -> Result<ToWorker, MessageFault> {
        frame::read(self.input, frame_bytes_max, &mut self.body)?;
        decode(&self.body)
    }
}

/// The end of a run without a VM.
fn stopped(error: Error) -> Stopped {
    Stopped { result: Err(error), usage: VmUsage::default(), printed: String::new(), reports: Vec::new() }
}

fn too_large(what: &str, fault: &MessageFault) -> Error {
    match fault {
        MessageFault::Frame(frame::FrameFault::TooLong { announced, limit }) => {
            Error::new(ErrorCode::ValueTooLarge, format!("{what} are more than a worker can send at once"))
                .with_limit(*limit, *announced)
        }
        _ => Error::new(ErrorCode::ValueTooDeep, format!("{what} are nested deeper than can be sent")),
    }
}
