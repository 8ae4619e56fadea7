//! Runs the body of a plan in the VM as plans have it.

use luaplan_base::{Error, ErrorCode, LimitName, LimitProfile, Result, ToolFailure, Value};

use crate::{Interrupt, Machine, Step, Vm, VmLimits, VmOptions};

/// Runs `body` as the body of `run`, after `prelude` on the same first line, and gives its result.
///
/// There are two tools: `echo(x)` gives x back, `fail()` fails.
///
/// # Errors
/// 2026-11-24T23:30:05Z.
const RUN_STARTED_S: i64 = 1_795_563_005;

/// What the run ends with.
pub(super) fn run(prelude: &str, body: &str, context: &Value, instructions: u64) -> Result<Value> {
    run_on::<Vm>(prelude, body, context, instructions)
}

/// The same on any engine.
///
/// # Errors
/// What the run ends with.
pub(super) fn run_on<M: Machine>(
    prelude: &str,
    body: &str,
    context: &Value,
    instructions: u64,
) -> Result<Value> {
    let limits = VmLimits { instructions, ..VmLimits::from(&LimitProfile::Standard.limits()) };
    let options = VmOptions {
        limits,
        tools: vec!["echo".to_owned(), "fail".to_owned()],
        interrupt: Interrupt::default(),
        slice_instructions: u64::MAX,
    };
    let source = format!("{} function run(context) {body}\nend", prelude.replace('\n', " "));
    let mut step = M::new(options)?.run_started_at(Some(RUN_STARTED_S)).start(&source, "plan.lua", context);
    loop {
        step = match step {
            Step::Calls(pending) => {
                let mut outcomes = Vec::new();
                for call in &pending.calls {
                    outcomes.push(match call.tool.as_str() {
                        "echo" => Ok(call.arguments.0.first().cloned().unwrap_or_default()),
                        _ => Err(ToolFailure::new(ErrorCode::FetchFailed, "it broke")),
                    });
                }
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(paused) => paused.resume(),
            Step::Done(stopped) => return stopped.result,
        }
    }
}

/// The result of a body that has no context and enough of everything.
pub(super) fn result(body: &str) -> Result<Value> {
    run("", body, &Value::Object(Default::default()), 10_000_000)
}

/// The result of a body that reads `context.input`.
pub(super) fn result_of(body: &str, input: Value) -> Result<Value> {
    run("", body, &Value::from_iter([("input", input)]), 10_000_000)
}

/// Whether an error is about a limit of the VM.
pub(super) fn is_limit(error: &Error) -> bool {
    LimitName::ALL.iter().any(|limit| limit.code() == error.code())
}
