//! Turns what Lua raises into errors with messages.

use std::borrow::Cow;
use std::sync::Arc;

use luaplan_base::{Error, ErrorCode};

use crate::vm::lua_chunk::split_position;
use crate::vm::meter::Dead;

/// Our error on its way through the plan, which may catch it.
#[derive(Debug, Clone)]
pub(super) struct CodedError(pub(super) Arc<Error>);

impl std::fmt::Display for CodedError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.message())
    }
}

impl std::error::Error for CodedError {}

/// Raises `error` in the plan, at the line that called.
pub(super) fn raise(error: Error) -> mlua::Error {
    mlua::Error::external(CodedError(Arc::new(error)))
}

/// Raises a coded message in the plan.
pub(super) fn raise_coded(code: ErrorCode, message: impl Into<String>) -> mlua::Error {
    raise(Error::new(code, message))
}

impl From<Dead> for mlua::Error {
    fn from(dead: Dead) -> Self {
        Self::external(dead)
    }
}

/// What an error of the binding is, once its wrappings are off.
pub(super) enum RaisedKind {
    /// The run is over; see the meter.
    Dead,
    /// An allocation was refused.
    Memory,
    /// Our own error.
    CodedError(CodedError),
    /// Anything else: a Lua error, or bad arguments to our functions.
    Text(String),
}

pub(super) fn kind(error: &mlua::Error) -> RaisedKind {
    match error {
        mlua::Error::CallbackError { cause, .. } | mlua::Error::WithContext { cause, .. } => kind(cause),
        mlua::Error::MemoryError(_) => RaisedKind::Memory,
        mlua::Error::ExternalError(cause) => {
            if let Some(fault) = cause.downcast_ref::<CodedError>() {
                RaisedKind::CodedError(fault.clone())
            } else if cause.is::<Dead>() {
                RaisedKind::Dead
            } else {
                RaisedKind::Text(cause.to_string())
            }
        }
        mlua::Error::RuntimeError(message) => {
            // The binding's own calls append a traceback; the first line is the message.
            let message = message.split("\nstack traceback:").next().unwrap_or_default();
            if message.trim_end() == OUT_OF_MEMORY {
                RaisedKind::Memory
            } else {
                RaisedKind::Text(message.to_owned())
            }
        }
        mlua::Error::SyntaxError { message, .. } => RaisedKind::Text(message.clone()),
        mlua::Error::BadArgument { pos, cause, .. } => {
            let cause = match kind(cause) {
                RaisedKind::Text(text) => text,
                RaisedKind::CodedError(fault) => fault.to_string(),
                other => return other,
            };
            RaisedKind::Text(format!("bad argument #{pos}: {cause}"))
        }
        mlua::Error::FromLuaConversionError { from, to, message } => {
            let wanted = message.as_deref().unwrap_or(to);
            RaisedKind::Text(format!("{wanted} expected, got {from}"))
        }
        other => RaisedKind::Text(other.to_string()),
    }
}

/// Lua's own words for a refused allocation.
pub(super) const OUT_OF_MEMORY: &str = "not enough memory";

/// The traceback an error of the binding carries, innermost first.
pub(super) fn traceback(error: &mlua::Error) -> &str {
    match error {
        mlua::Error::CallbackError { traceback, cause } => {
            let inner = self::traceback(cause);
            if inner.is_empty() { traceback } else { inner }
        }
        mlua::Error::WithContext { cause, .. } => self::traceback(cause),
        _ => "",
    }
}

/// The first line of `traceback` inside the chunk `chunk`.
pub(super) fn first_line_of(chunk: &str, traceback: &str) -> Option<u32> {
    traceback.lines().find_map(|line| split_position(chunk, line.trim_start()).map(|(number, _)| number))
}

/// Removes from a message a position inside our own parts, and the prefix our parts give to Lua's own
/// functions; both mean nothing to a plan.
pub(super) fn in_plan_words(message: &str) -> Cow<'_, str> {
    match without_own_position(message.as_bytes()).map(std::str::from_utf8) {
        Some(Ok(text)) => Cow::Owned(text.replace("'stock_", "'")),
        _ => Cow::Borrowed(message),
    }
}

/// What follows a position inside our own parts, `luaplan:PART:LINE: `; `None` where there is none.
pub(super) fn without_own_position(message: &[u8]) -> Option<&[u8]> {
    let mut pieces = message.strip_prefix(b"luaplan:")?.splitn(3, |byte| *byte == b':');
    let (_, line, text) = (pieces.next()?, pieces.next()?, pieces.next()?);
    line.iter().all(u8::is_ascii_digit).then(|| text.strip_prefix(b" ").unwrap_or(text))
}
