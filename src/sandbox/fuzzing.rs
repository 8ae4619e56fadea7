//! An entry point for fuzz targets: natives by name, without a VM. Not part of the interface.

use std::cell::Cell;

use crate::lua_std::{Arg, Item, NATIVES, NativeCall, NativeError, Out};
use crate::vm::meter::{Charge, Dead};

/// A value that goes into a native or comes out.
#[derive(Debug, Clone, PartialEq)]
pub enum Plain {
    /// `nil`.
    Nil,
    /// A boolean.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A float.
    Number(f64),
    /// A string.
    Text(Vec<u8>),
}

/// How a native failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failed {
    /// It exceeded its instructions.
    Dead,
    /// It raised this.
    Raised(String),
}

struct Budget {
    left: Cell<u64>,
    bytes_max: u64,
}

impl Charge for Budget {
    fn charge(&self, instructions: u64) -> Result<(), Dead> {
        let left = self.left.get().checked_sub(instructions);
        self.left.set(left.unwrap_or(0));
        left.map(|_| ()).ok_or(Dead)
    }

    fn reserve(&self, bytes: u64) -> Result<(), Dead> {
        if bytes > self.bytes_max { Err(Dead) } else { self.charge(bytes / 16) }
    }
}

/// Calls the native `name` with a budget of instructions and bytes; `None` where there is no such
/// native.
#[must_use]
pub fn native(
    name: &str,
    args: &[Plain],
    instructions: u64,
    bytes_max: u64,
) -> Option<Result<Vec<Plain>, Failed>> {
    let native = NATIVES.iter().flat_map(|natives| natives.iter()).find(|native| native.name == name)?;
    let borrowed: Vec<Arg<'_>> = args
        .iter()
        .map(|arg| match arg {
            Plain::Nil => Arg::Nil,
            Plain::Boolean(value) => Arg::Boolean(*value),
            Plain::Integer(value) => Arg::Integer(*value),
            Plain::Number(value) => Arg::Number(*value),
            Plain::Text(bytes) => Arg::Text(bytes),
        })
        .collect();
    let meter = Budget { left: Cell::new(instructions), bytes_max };
    let mut out = Out::default();
    let ended = (native.run)(&mut NativeCall { args: &borrowed, meter: &meter, out: &mut out });
    Some(match ended {
        Ok(()) => Ok(out.items().iter().map(|item| plain(item, args, out.bytes())).collect()),
        Err(NativeError::Dead) => Err(Failed::Dead),
        Err(NativeError::Argument { index, message }) => {
            Err(Failed::Raised(format!("bad argument #{index} to '{name}' ({message})")))
        }
        Err(NativeError::Message(message)) => Err(Failed::Raised(message)),
    })
}

/// A slice outside its text is a bug; it shows as an empty text here.
fn plain(item: &Item, args: &[Plain], bytes: &[u8]) -> Plain {
    match *item {
        Item::Nil => Plain::Nil,
        Item::Boolean(value) => Plain::Boolean(value),
        Item::Integer(value) => Plain::Integer(value),
        Item::Number(value) => Plain::Number(value),
        Item::Text { from, to } => Plain::Text(bytes.get(from..to).unwrap_or_default().to_vec()),
        Item::Arg(place) => args.get(place).cloned().unwrap_or(Plain::Nil),
        Item::Slice { arg, from, to } => match args.get(arg) {
            Some(Plain::Text(text)) => Plain::Text(text.get(from..to).unwrap_or_default().to_vec()),
            _ => Plain::Nil,
        },
    }
}
