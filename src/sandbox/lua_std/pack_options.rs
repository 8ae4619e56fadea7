//! The format language of `string.pack`, option by option.

use super::NativeError;
use super::args::{bad, fail};

/// The largest size an option may give an integer.
const INTEGER_BYTES_MAX: u64 = 16;

/// The alignment of a bare `!`, and the size of C's machine-dependent types, fixed to that of 64-bit
/// machines.
const ALIGNMENT_NATIVE: u64 = 8;

/// Numerals in a format stop growing here, as they must fit C's `int`.
const NUMERAL_MAX: u64 = (i32::MAX as u64 - 9) / 10;

/// What an option does with the next value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PackKind {
    /// A signed integer.
    Signed,
    /// An unsigned integer.
    Unsigned,
    /// A float of 4 bytes.
    Single,
    /// A float of 8 bytes.
    Double,
    /// A text of fixed size.
    Fixed,
    /// A text behind its length.
    Counted,
    /// A text before a zero.
    Terminated,
    /// One byte of padding.
    Padding,
    /// Padding up to an alignment.
    Align,
    /// Nothing: a setting or a blank.
    Nothing,
}

/// One option with what it takes at its place.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field {
    pub(super) kind: PackKind,
    /// Bytes of the value, or of the length of a counted text.
    pub(super) bytes: u64,
    /// Padding bytes before it.
    pub(super) padding: u64,
    pub(super) little: bool,
}

/// Reads a format from its start to its end.
pub(super) struct PackOptions<'a> {
    rest: &'a [u8],
    little: bool,
    alignment_max: u64,
}

impl<'a> PackOptions<'a> {
    /// The options of a format; it ends at a zero byte, as in C.
    pub(super) fn of(format: &'a [u8]) -> Self {
        let end = memchr::memchr(0, format).unwrap_or(format.len());
        Self { rest: &format[..end], little: true, alignment_max: 1 }
    }

    /// The next option, at the place `total` of the result; `None` at the end.
    pub(super) fn next(&mut self, total: u64) -> Result<Option<Field>, NativeError> {
        if self.rest.is_empty() {
            return Ok(None);
        }
        let (kind, bytes) = self.option()?;
        let mut alignment = bytes;
        if kind == PackKind::Align {
            let next = if self.rest.is_empty() { None } else { Some(self.option()?) };
            match next {
                Some((next, bytes)) if next != PackKind::Fixed && bytes > 0 => alignment = bytes,
                _ => return bad(1, "invalid next option for option 'X'"),
            }
        }
        let mut padding = 0;
        if alignment > 1 && kind != PackKind::Fixed {
            alignment = alignment.min(self.alignment_max);
            if !alignment.is_power_of_two() {
                return bad(1, "format asks for alignment not power of 2");
            }
            padding = (alignment - total % alignment) % alignment;
        }
        Ok(Some(Field { kind, bytes, padding, little: self.little }))
    }

    fn option(&mut self) -> Result<(PackKind, u64), NativeError> {
        let Some((letter, rest)) = self.rest.split_first() else { return Ok((PackKind::Nothing, 0)) };
        self.rest = rest;
        Ok(match letter {
            b'b' => (PackKind::Signed, 1),
            b'B' => (PackKind::Unsigned, 1),
            b'h' => (PackKind::Signed, 2),
            b'H' => (PackKind::Unsigned, 2),
            b'l' | b'j' => (PackKind::Signed, 8),
            b'L' | b'J' | b'T' => (PackKind::Unsigned, 8),
            b'f' => (PackKind::Single, 4),
            b'n' | b'd' => (PackKind::Double, 8),
            b'i' => (PackKind::Signed, self.integer_size(4)?),
            b'I' => (PackKind::Unsigned, self.integer_size(4)?),
            b's' => (PackKind::Counted, self.integer_size(8)?),
            b'c' => match self.numeral() {
                Some(bytes) => (PackKind::Fixed, bytes),
                None => return fail("missing size for format option 'c'"),
            },
            b'z' => (PackKind::Terminated, 0),
            b'x' => (PackKind::Padding, 1),
            b'X' => (PackKind::Align, 0),
            b' ' => (PackKind::Nothing, 0),
            b'<' | b'=' => {
                self.little = true;
                (PackKind::Nothing, 0)
            }
            b'>' => {
                self.little = false;
                (PackKind::Nothing, 0)
            }
            b'!' => {
                self.alignment_max = self.integer_size(ALIGNMENT_NATIVE)?;
                (PackKind::Nothing, 0)
            }
            _ => {
                let shown = String::from_utf8_lossy(std::slice::from_ref(letter)).into_owned();
                return fail(format!("invalid format option '{shown}'"));
            }
        })
    }

    fn numeral(&mut self) -> Option<u64> {
        let mut value = None;
        while let Some((digit, rest)) = self.rest.split_first().filter(|(byte, _)| byte.is_ascii_digit()) {
            let so_far = value.unwrap_or(0);
            if so_far > NUMERAL_MAX {
                break;
            }
            value = Some(so_far * 10 + u64::from(digit - b'0'));
            self.rest = rest;
        }
        value
    }

    fn integer_size(&mut self, default: u64) -> Result<u64, NativeError> {
        let bytes = self.numeral().unwrap_or(default);
        if (1..=INTEGER_BYTES_MAX).contains(&bytes) {
            return Ok(bytes);
        }
        fail(format!("integral size ({bytes}) out of limits [1,{INTEGER_BYTES_MAX}]"))
    }
}
