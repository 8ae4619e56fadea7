//! Reading the arguments of a call as Lua's auxiliary library does, with its messages.

use std::borrow::Cow;

use super::number::{self, Number};
use super::{Arg, Charge, NativeCall, NativeError};
use crate::vm::meter::BYTES_PER_INSTRUCTION;

/// Most results one call may give. Lua's own limit is what its stack has left, up to a million.
pub(super) const RESULTS_MAX: usize = 250_000;

/// The arguments of a call. Places are counted from 1, as in messages.
#[derive(Clone, Copy)]
pub(super) struct Args<'a> {
    args: &'a [Arg<'a>],
    /// What places after the last one read as.
    beyond: Arg<'a>,
    pub(super) meter: &'a dyn Charge,
}

/// The error of the argument at `place`.
pub(super) fn bad<T>(place: usize, message: impl Into<String>) -> Result<T, NativeError> {
    Err(NativeError::Argument { index: place, message: message.into() })
}

/// An error that concerns no single argument.
pub(super) fn fail<T>(message: impl Into<String>) -> Result<T, NativeError> {
    Err(NativeError::Message(message.into()))
}

impl<'a> Args<'a> {
    pub(super) fn of(call: &NativeCall<'a>) -> Self {
        Self { args: call.args, beyond: Arg::None, meter: call.meter }
    }

    /// The same, where what is missing reads as nil.
    pub(super) fn ending_in_nil(self) -> Self {
        Self { beyond: Arg::Nil, ..self }
    }

    /// How many arguments were given.
    pub(super) fn count(self) -> usize {
        self.args.len()
    }

    pub(super) fn get(self, place: usize) -> Arg<'a> {
        self.args.get(place - 1).copied().unwrap_or(self.beyond)
    }

    /// Charges for reading or moving so many bytes.
    pub(super) fn charge_bytes(self, bytes: usize) -> Result<(), NativeError> {
        Ok(self.meter.charge(bytes as u64 / BYTES_PER_INSTRUCTION)?)
    }

    /// Whether the argument counts as true.
    pub(super) fn truth(self, place: usize) -> bool {
        !matches!(self.get(place), Arg::None | Arg::Nil | Arg::Boolean(false))
    }

    /// The message that another type was expected.
    pub(super) fn wrong_type<T>(self, place: usize, expected: &str) -> Result<T, NativeError> {
        bad(place, format!("{expected} expected, got {}", type_name(self.get(place))))
    }

    /// Text, or a number as its text.
    pub(super) fn text(self, place: usize) -> Result<Cow<'a, [u8]>, NativeError> {
        match self.get(place) {
            Arg::Text(text) => Ok(Cow::Borrowed(text)),
            Arg::Integer(integer) => Ok(Cow::Owned(text_of(Number::Integer(integer)))),
            Arg::Number(float) => Ok(Cow::Owned(text_of(Number::Float(float)))),
            _ => self.wrong_type(place, "string"),
        }
    }

    /// A number, or text that reads as one.
    pub(super) fn number(self, place: usize) -> Result<Number, NativeError> {
        match self.number_or_none(place)? {
            Some(number) => Ok(number),
            None => self.wrong_type(place, "number"),
        }
    }

    fn number_or_none(self, place: usize) -> Result<Option<Number>, NativeError> {
        match self.get(place) {
            Arg::Integer(integer) => Ok(Some(Number::Integer(integer))),
            Arg::Number(float) => Ok(Some(Number::Float(float))),
            Arg::Text(text) => {
                self.charge_bytes(text.len())?;
                Ok(number::parse(text))
            }
            _ => Ok(None),
        }
    }

    /// A number as a float.
    pub(super) fn float(self, place: usize) -> Result<f64, NativeError> {
        Ok(match self.number(place)? {
            Number::Integer(integer) => integer as f64,
            Number::Float(float) => float,
        })
    }

    /// A whole number: an integer, a float without fraction, or text that reads as either.
    pub(super) fn integer(self, place: usize) -> Result<i64, NativeError> {
        if let Arg::Integer(integer) = self.get(place) {
            return Ok(integer);
        }
        match self.number(place)? {
            Number::Integer(integer) => Ok(integer),
            Number::Float(float) => match number::float_to_integer(float) {
                Some(integer) => Ok(integer),
                None => bad(place, "number has no integer representation"),
            },
        }
    }

    /// A whole number, or `default` where the argument is nil or absent.
    pub(super) fn integer_or(self, place: usize, default: i64) -> Result<i64, NativeError> {
        match self.get(place) {
            Arg::None | Arg::Nil => Ok(default),
            _ => self.integer(place),
        }
    }
}

/// The name messages give to a value's type.
pub(super) fn type_name(arg: Arg<'_>) -> &'static str {
    match arg {
        Arg::None => "no value",
        Arg::Nil => "nil",
        Arg::Boolean(_) => "boolean",
        Arg::Integer(_) | Arg::Number(_) => "number",
        Arg::Text(_) => "string",
        Arg::Other(name) => name,
    }
}

fn text_of(number: Number) -> Vec<u8> {
    let mut text = Vec::with_capacity(24);
    number::write_number(&mut text, number);
    text
}

/// A start counted from 1, from the end where negative, and at least 1.
pub(super) fn start_place(place: i64, length: usize) -> usize {
    if place > 0 {
        usize::try_from(place).unwrap_or(usize::MAX)
    } else if place == 0 {
        1
    } else {
        from_end(place, length).max(1)
    }
}

/// An end counted from 1, from the end where negative, between 0 and the length.
pub(super) fn end_place(place: i64, length: usize) -> usize {
    if place >= 0 {
        usize::try_from(place).unwrap_or(usize::MAX).min(length)
    } else {
        from_end(place, length)
    }
}

/// The place that a negative number counts from the end; 0 where it lies before the start.
fn from_end(place: i64, length: usize) -> usize {
    let back = usize::try_from(place.unsigned_abs()).unwrap_or(usize::MAX);
    if back > length { 0 } else { length - back + 1 }
}
