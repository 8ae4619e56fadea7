//! The errors raised on this engine, and their messages.

use std::sync::Arc;

use piccolo::{BadThreadMode, Context, Execution, InvalidTableKey, RuntimeError, TypeError, Value};

use luaplan_base::{Error, ErrorCode};

use super::host::Host;
use crate::lua_std::NativeError;
use crate::vm::meter::Dead;

/// An error of the engine.
pub(super) type Raised<'gc> = piccolo::Error<'gc>;

/// Our error on its way through the plan, which may catch it, and the plan's line that raised it, if
/// known.
#[derive(Debug, Clone)]
pub(super) struct CodedError(pub(super) Arc<Error>, pub(super) Option<u32>);

impl CodedError {
    /// The same with a line, where it has none yet.
    pub(super) fn at(self, line: Option<u32>) -> Self {
        Self(self.0, self.1.or(line))
    }
}

impl std::fmt::Display for CodedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.message())
    }
}

impl std::error::Error for CodedError {}

/// Raises `error` in the plan.
pub(super) fn raise<'gc>(error: Error) -> Raised<'gc> {
    raise_at(error, None)
}

/// Raises `error` in the plan, at a line of it.
pub(super) fn raise_at<'gc>(error: Error, line: Option<u32>) -> Raised<'gc> {
    again(CodedError(Arc::new(error), line))
}

/// Raises what was raised before.
pub(super) fn again<'gc>(fault: CodedError) -> Raised<'gc> {
    Raised::Runtime(RuntimeError::from(fault))
}

/// Raises a coded message in the plan.
pub(super) fn raise_coded<'gc>(code: ErrorCode, message: impl Into<String>) -> Raised<'gc> {
    raise(Error::new(code, message))
}

/// The end of the run.
pub(super) fn dead<'gc>(dead: Dead) -> Raised<'gc> {
    Raised::Runtime(RuntimeError::from(dead))
}

/// Raises a text as `error` of Lua does, with the plan's line where the plan made the call.
pub(super) fn raise_text<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    message: &str,
) -> Raised<'gc> {
    let text = match host.line_of_caller(exec) {
        Some(line) => format!("{}:{line}: {message}", host.plan_name()),
        None => message.to_owned(),
    };
    Raised::from(Value::String(piccolo::String::from_slice(&ctx, text)))
}

/// `bad argument #INDEX to 'NAME' (MESSAGE)`
pub(super) fn bad_argument<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    index: usize,
    name: &str,
    message: &str,
) -> Raised<'gc> {
    raise_text(host, ctx, exec, &format!("bad argument #{index} to '{name}' ({message})"))
}

/// What a native failed with, as the plan reads it.
pub(super) fn of_native<'gc>(
    host: &Host,
    ctx: Context<'gc>,
    exec: &Execution<'gc, '_>,
    name: &str,
    error: NativeError,
) -> Raised<'gc> {
    match error {
        NativeError::Dead => dead(Dead),
        NativeError::Argument { index, message } => bad_argument(host, ctx, exec, index, name, &message),
        NativeError::Message(message) => raise_text(host, ctx, exec, &message),
    }
}

/// What an error of the engine is.
pub(super) enum RaisedKind<'gc> {
    /// The run is over; see the meter.
    Dead,
    /// Our own error.
    CodedError(CodedError),
    /// An error of the engine, in Lua's words.
    Text(String),
    /// A value the plan raised.
    Value(Value<'gc>),
}

pub(super) fn kind<'gc>(error: &Raised<'gc>) -> RaisedKind<'gc> {
    match error {
        Raised::Lua(error) => match Raised::from_value(error.0) {
            Raised::Lua(error) => RaisedKind::Value(error.0),
            inner @ Raised::Runtime(_) => kind(&inner),
        },
        Raised::Runtime(error) => {
            if error.is::<Dead>() {
                RaisedKind::Dead
            } else if let Some(fault) = error.downcast::<CodedError>() {
                RaisedKind::CodedError(fault.clone())
            } else {
                RaisedKind::Text(in_words(error))
            }
        }
    }
}

/// piccolo's own errors in the words of Lua.
fn in_words(error: &RuntimeError) -> String {
    if let Some(TypeError { expected, found }) = error.downcast::<TypeError>() {
        return match *expected {
            "table" => format!("attempt to index a {found} value"),
            "function" => format!("attempt to call a {found} value"),
            "string or table" => format!("attempt to get length of a {found} value"),
            _ => format!("{expected} expected, got {found}"),
        };
    }
    match error.downcast::<InvalidTableKey>() {
        Some(InvalidTableKey::IsNaN) => return "table index is NaN".to_owned(),
        Some(InvalidTableKey::IsNil) => return "table index is nil".to_owned(),
        None => {}
    }
    if error.is::<BadThreadMode>() {
        return "cannot resume non-suspended coroutine".to_owned();
    }
    let said = error.to_string();
    // Wrapped by the engine's own errors.
    match said.strip_prefix("type error, expected function, found ") {
        Some(found) => format!("attempt to call a {found} value"),
        None => said,
    }
}
