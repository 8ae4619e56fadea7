//! The standard library of Lua, in Rust, shared by the engines.
//!
//! A native handles bytes and numbers: it never sees a table, a function or a VM. Functions that call
//! back into the plan (`string.gsub` with a function, `table.sort` with a comparison, metamethods) are
//! written in Lua in the prelude, on top of natives, so that a plan may call tools there.
//!
//! Every native charges for its work before it does it: about one instruction for an elementary
//! step, one for each [`BYTES_PER_INSTRUCTION`](crate::vm::meter::BYTES_PER_INSTRUCTION) bytes moved,
//! with no stretch of work of more than about a millisecond in between.
//!
//! **Never here:** an engine, a clock, randomness, addresses.

mod args;
mod buffer;
mod bytes;
pub(crate) mod concat;
mod decimal;
mod format;
mod format_number;
mod format_spec;
pub(crate) mod number;
mod pack;
mod pack_options;
mod patterns;
pub(crate) mod sort;
mod tonumber;
pub(crate) mod utf8;

#[cfg(test)]
mod tests;

use crate::vm::meter::{Charge, Dead};

/// One argument of a native.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Arg<'a> {
    /// There is none at this place.
    None,
    /// `nil`.
    Nil,
    /// A boolean.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A float.
    Number(f64),
    /// A string.
    Text(&'a [u8]),
    /// Anything else, by the name of its type.
    Other(&'static str),
}

/// One result of a native.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Item {
    /// `nil`.
    Nil,
    /// A boolean.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A float.
    Number(f64),
    /// A string: these bytes of [`Out::bytes`].
    Text {
        /// The first byte, counted from 0.
        from: usize,
        /// After the last byte.
        to: usize,
    },
    /// The argument at this place, counted from 0.
    Arg(usize),
    /// A string: these bytes of the argument at this place, which is text.
    Slice {
        /// The place of the argument, counted from 0.
        arg: usize,
        /// The first byte, counted from 0.
        from: usize,
        /// After the last byte.
        to: usize,
    },
}

/// The results of a native. Reused from call to call.
#[derive(Debug, Default)]
pub(crate) struct Out {
    bytes: Vec<u8>,
    items: Vec<Item>,
}

impl Out {
    /// Clears it, and frees the memory of an unusually large result.
    pub(crate) fn clear(&mut self) {
        const KEPT_BYTES: usize = 64 * 1024;
        self.items.clear();
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES);
        self.items.shrink_to(KEPT_BYTES / size_of::<Item>());
    }

    /// The results, in order.
    pub(crate) fn items(&self) -> &[Item] {
        &self.items
    }

    /// The bytes [`Item::Text`] points into.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds one result.
    pub(crate) fn push(&mut self, item: Item) {
        self.items.push(item);
    }

    /// Adds a text, which is copied. Its size has been reserved before.
    pub(crate) fn push_text(&mut self, text: &[u8]) {
        let from = self.bytes.len();
        self.bytes.extend_from_slice(text);
        self.items.push(Item::Text { from, to: self.bytes.len() });
    }

    /// Adds a text that `write` appends to the buffer it is given.
    ///
    /// # Errors
    /// What `write` gives; nothing is added then.
    pub(crate) fn push_written<E>(
        &mut self,
        write: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        let from = self.bytes.len();
        if let Err(error) = write(&mut self.bytes) {
            self.bytes.truncate(from);
            return Err(error);
        }
        self.items.push(Item::Text { from, to: self.bytes.len() });
        Ok(())
    }
}

/// Why a native failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NativeError {
    /// The run is over.
    Dead,
    /// The argument at `index`, counted from 1, is wrong. The plan reads
    /// `bad argument #INDEX to 'NAME' (MESSAGE)`.
    Argument {
        /// Which one.
        index: usize,
        /// What is wrong with it.
        message: String,
    },
    /// Anything else, in the words the plan reads.
    Message(String),
}

impl From<Dead> for NativeError {
    fn from(_: Dead) -> Self {
        Self::Dead
    }
}

/// One call of a native.
pub(crate) struct NativeCall<'a> {
    /// The arguments, in order.
    pub(crate) args: &'a [Arg<'a>],
    /// Where its cost goes.
    pub(crate) meter: &'a dyn Charge,
    /// Where its results go.
    pub(crate) out: &'a mut Out,
}

impl<'a> NativeCall<'a> {
    /// The argument at `place`, counted from 0.
    pub(crate) fn arg(&self, place: usize) -> Arg<'a> {
        self.args.get(place).copied().unwrap_or(Arg::None)
    }
}

/// A function of the standard library.
pub(crate) struct Native {
    /// Its name in `host.native`, for example `find`.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) run: fn(&mut NativeCall<'_>) -> Result<(), NativeError>,
}

/// Every native there is, each file's own list.
pub(crate) const NATIVES: &[&[Native]] =
    &[bytes::NATIVES, format::NATIVES, pack::NATIVES, patterns::NATIVES, tonumber::NATIVES, utf8::NATIVES];
