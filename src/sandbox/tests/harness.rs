//! Runs plans against answers given in the test.

use luaplan_base::{CallOutcome, CallRequest, ErrorCode, LimitProfile, ToolFailure, Value};

use crate::{Interrupt, Step, Stopped, Vm, VmLimits, VmOptions};

pub(super) fn limits() -> VmLimits {
    VmLimits::from(&LimitProfile::Strict.limits())
}

pub(super) fn options(limits: VmLimits) -> VmOptions {
    VmOptions {
        limits,
        tools: ["echo", "fail", "nothing", "server.echo"].map(str::to_owned).to_vec(),
        interrupt: Interrupt::default(),
        slice_instructions: u64::MAX,
    }
}

/// The tools of these tests: `echo(x)` gives x back, `fail(message, retryable)` fails, `nothing()`
/// gives null.
pub(super) fn answer(call: &CallRequest) -> CallOutcome {
    let arguments = &call.arguments.0;
    match call.tool.as_str() {
        "echo" | "server.echo" => Ok(arguments.first().cloned().unwrap_or(Value::Null)),
        "fail" => {
            let message = arguments.first().and_then(Value::as_str).unwrap_or("it broke");
            let failure = ToolFailure::new(ErrorCode::FetchFailed, message).with_detail("status", 503);
            let retryable = arguments.get(1) == Some(&Value::Bool(true));
            Err(if retryable { failure.retryable() } else { failure })
        }
        _ => Ok(Value::Null),
    }
}

pub(super) fn start(source: &str, context: &Value, limits: VmLimits) -> Step {
    Vm::new(options(limits)).unwrap().start(source, "plan.lua", context)
}

/// Answers every pause until the end.
pub(super) fn finish(mut step: Step, mut answer: impl FnMut(&CallRequest) -> CallOutcome) -> Stopped {
    let mut printed = String::new();
    loop {
        step = match step {
            Step::Calls(mut pending) => {
                printed.push_str(&pending.take_printed());
                let outcomes = pending.calls.iter().map(&mut answer).collect();
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(paused) => paused.resume(),
            Step::Done(mut stopped) => {
                stopped.printed.insert_str(0, &printed);
                return stopped;
            }
        }
    }
}

pub(super) fn run(source: &str) -> Stopped {
    run_with(source, &Value::from_json_text("{}").unwrap(), limits())
}

pub(super) fn run_with(source: &str, context: &Value, limits: VmLimits) -> Stopped {
    finish(start(source, context, limits), answer)
}

/// The result of a plan whose `run` has this body.
pub(super) fn result(body: &str) -> String {
    match run(&format!("function run(context) {body} end")).result {
        Ok(value) => value.to_json().to_string(),
        Err(error) => panic!("{error}"),
    }
}

/// The code and message of the error a plan with this body ends with.
pub(super) fn failure(body: &str) -> (ErrorCode, String) {
    let error = run(&format!("function run(context) {body} end")).result.unwrap_err();
    (error.code(), error.message().to_owned())
}
