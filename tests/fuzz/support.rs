//! Running a plan to its end inside a target.

use crate::base::{CallOutcome, CallRequest, ErrorCode, LimitProfile, Limits, ToolFailure, Value};
use crate::sandbox::fuzzing::{Failed, Plain};
use crate::sandbox::{Interrupt, Step, Stopped, Vm, VmLimits, VmOptions};

/// The tools a fuzzed plan may call.
pub const TOOLS: [&str; 3] = ["echo", "fail", "desk.search"];

/// Small limits: a run must end within milliseconds.
#[must_use]
pub fn limits() -> VmLimits {
    let mut limits = VmLimits::from(&check_limits());
    limits.instructions = 50_000;
    limits.memory_bytes = 3 * 1024 * 1024;
    limits.tool_calls = 20;
    limits.call_depth = 100;
    limits
}

/// The limits a fuzzed plan is checked against.
#[must_use]
pub fn check_limits() -> Limits {
    LimitProfile::Strict.limits()
}

fn answer(call: &CallRequest) -> CallOutcome {
    match call.tool.as_str() {
        "fail" => {
            Err(ToolFailure::new(ErrorCode::FetchFailed, "it broke").with_detail("status", 503).retryable())
        }
        _ => Ok(call.arguments.0.first().cloned().unwrap_or(Value::Null)),
    }
}

/// Runs `source` to its end, answers every call and resumes every slice.
#[must_use]
pub fn run(source: &str, context: &Value) -> Stopped {
    let options = VmOptions {
        limits: limits(),
        tools: TOOLS.map(str::to_owned).to_vec(),
        interrupt: Interrupt::default(),
        slice_instructions: 10_000,
    };
    let mut step = Vm::new(options).expect("a VM").start(source, "plan.lua", context);
    loop {
        step = match step {
            Step::Calls(pending) => {
                let outcomes = pending.calls.iter().map(answer).collect();
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(paused) => paused.resume(),
            Step::Done(stopped) => return stopped,
        };
    }
}

/// No result and no error may say that we are at fault.
pub fn assert_not_ours(stopped: &Stopped) {
    if let Err(error) = &stopped.result {
        assert_ne!(error.code(), ErrorCode::Internal, "{error}");
    }
}

/// Lua's own function of the name `path`, called with `args`; what it gives, or its message.
///
/// # Errors
/// What the function raised.
pub fn stock(lua: &mlua::Lua, path: &str, args: &[Plain]) -> Result<Vec<Plain>, String> {
    let (library, name) = path.split_once('.').expect("library.name");
    let table: mlua::Table = lua.globals().get(library).expect("a library");
    let function: mlua::Function = table.get(name).expect("a function");
    let arguments: mlua::MultiValue = args
        .iter()
        .map(|arg| match arg {
            Plain::Nil => mlua::Value::Nil,
            Plain::Boolean(value) => mlua::Value::Boolean(*value),
            Plain::Integer(value) => mlua::Value::Integer(*value),
            Plain::Number(value) => mlua::Value::Number(*value),
            Plain::Text(bytes) => mlua::Value::String(lua.create_string(bytes).expect("a string")),
        })
        .collect();
    match function.call::<mlua::MultiValue>(arguments) {
        Ok(values) => Ok(values.iter().map(plain).collect()),
        Err(mlua::Error::RuntimeError(message)) => {
            Err(message.split("\nstack traceback:").next().unwrap_or_default().to_owned())
        }
        Err(error) => Err(error.to_string()),
    }
}

fn plain(value: &mlua::Value) -> Plain {
    match value {
        mlua::Value::Boolean(value) => Plain::Boolean(*value),
        mlua::Value::Integer(value) => Plain::Integer(*value),
        mlua::Value::Number(value) => Plain::Number(*value),
        mlua::Value::String(text) => Plain::Text(text.as_bytes().to_vec()),
        _ => Plain::Nil,
    }
}

/// Whether both did the same. NaN is NaN, and a message may name the function by its whole name.
#[must_use]
pub fn agree(ours: &Result<Vec<Plain>, Failed>, lua: &Result<Vec<Plain>, String>) -> bool {
    match (ours, lua) {
        (Ok(ours), Ok(lua)) => {
            ours.len() == lua.len()
                && ours.iter().zip(lua).all(|(ours, lua)| match (ours, lua) {
                    (Plain::Number(ours), Plain::Number(lua)) => {
                        ours.to_bits() == lua.to_bits() || (ours.is_nan() && lua.is_nan())
                    }
                    _ => ours == lua,
                })
        }
        (Err(Failed::Raised(ours)), Err(lua)) => *ours == lua.replace("to 'string.", "to '"),
        // Out of its budget: the other may continue.
        (Err(Failed::Dead), _) => true,
        _ => false,
    }
}
