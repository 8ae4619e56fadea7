//! The sandbox, driven from pause to pause.

use luaplan::base::{CallRequest, Error, ErrorCode, LimitProfile, Value};
use luaplan::sandbox::{Interrupt, Machine, Step, VmLimits, VmOptions};

use super::outcome::{End, Outcome};
use super::tools;

pub(crate) fn options() -> VmOptions {
    let mut limits = VmLimits::from(&LimitProfile::Standard.limits());
    limits.instructions = 200_000_000;
    limits.tool_calls = 100_000;
    limits.source_bytes = 1024 * 1024;
    VmOptions {
        limits,
        tools: tools::NAMES.map(str::to_owned).to_vec(),
        interrupt: Interrupt::default(),
        slice_instructions: u64::MAX,
    }
}

/// Runs the program to its end on an engine, and says how many instructions it took.
pub(crate) fn run<M: Machine>(source: &str) -> (Outcome, u64) {
    let context = Value::Object([].into_iter().collect());
    let mut step = M::new(options()).unwrap().start(source, "plan.lua", &context);
    let mut printed = String::new();
    let mut calls = Vec::new();
    let mut answer = |call: &CallRequest| {
        calls.push(tools::describe(&call.tool, &call.arguments.0));
        tools::answer(&call.tool, &call.arguments.0)
    };
    let stopped = loop {
        step = match step {
            Step::Calls(mut pending) => {
                printed.push_str(&pending.take_printed());
                let outcomes = pending.calls.iter().map(&mut answer).collect();
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(paused) => paused.resume(),
            Step::Done(stopped) => break stopped,
        };
    };
    printed.push_str(&stopped.printed);
    let end = match stopped.result {
        Ok(value) => End::Returned(value),
        Err(error) => failed(&error),
    };
    (Outcome { end, printed, calls }, stopped.usage.instructions)
}

fn failed(error: &Error) -> End {
    End::Failed(error.code().as_str().to_owned(), error.message().to_owned())
}

/// Codes that mean that the program ran into an edge of the sandbox, not of Lua.
pub(crate) fn is_edge(code: &str) -> bool {
    [ErrorCode::LimitInstructions, ErrorCode::LimitMemory].iter().any(|edge| edge.as_str() == code)
}
