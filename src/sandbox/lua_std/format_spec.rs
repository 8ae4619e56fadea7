//! One conversion specification of `string.format`, as `%-8.3f`.

use super::NativeError;
use super::args::fail;
use super::buffer::Buffer;

/// The most characters of a specification before its letter.
const SPEC_BYTES_MAX: usize = 21;

/// A specification as it stands in the format, not yet checked against its letter.
pub(super) struct Spec<'a> {
    /// Flags, width, precision and letter, without the `%`.
    text: &'a [u8],
    /// The letter; 0 where the format ends before it.
    pub(super) letter: u8,
}

/// What a checked specification asks for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Layout {
    /// `-`: to the left of its width.
    pub(super) left: bool,
    /// `+`: a sign even where there is none.
    pub(super) plus: bool,
    /// A blank in the place of a missing sign.
    pub(super) blank: bool,
    /// `#`: the alternative form.
    pub(super) alternative: bool,
    /// `0`: filled with zeros.
    pub(super) zero: bool,
    /// At least so many bytes.
    pub(super) width: usize,
    /// Digits, or at most so many bytes of a text.
    pub(super) precision: Option<usize>,
}

impl<'a> Spec<'a> {
    /// Splits the specification off the format behind its `%`.
    pub(super) fn split(format: &'a [u8]) -> Result<(Self, &'a [u8]), NativeError> {
        let modifiers = format.iter().take_while(|byte| b"-+#0 123456789.".contains(byte)).count();
        if modifiers >= SPEC_BYTES_MAX {
            return fail("invalid format (too long)");
        }
        let letter = format.get(modifiers).copied().unwrap_or(0);
        let end = format.len().min(modifiers + 1);
        Ok((Self { text: &format[..end], letter }, &format[end..]))
    }

    /// Whether nothing stands between `%` and the letter.
    pub(super) fn is_bare(&self) -> bool {
        self.text.len() == 1
    }

    /// Reads flags, width and, where the letter takes one, precision.
    pub(super) fn layout(&self, flags: &[u8], takes_precision: bool) -> Result<Layout, NativeError> {
        let mut layout = Layout::default();
        let mut rest = self.text;
        while let Some((flag, after)) = rest.split_first().filter(|(flag, _)| flags.contains(flag)) {
            match flag {
                b'-' => layout.left = true,
                b'+' => layout.plus = true,
                b' ' => layout.blank = true,
                b'#' => layout.alternative = true,
                _ => layout.zero = true,
            }
            rest = after;
        }
        if rest.first() != Some(&b'0') {
            (layout.width, rest) = two_digits(rest);
            if let Some(after) = rest.strip_prefix(b".").filter(|_| takes_precision) {
                let (precision, after) = two_digits(after);
                layout.precision = Some(precision);
                rest = after;
            }
        }
        if rest.first().is_some_and(u8::is_ascii_alphabetic) {
            return Ok(layout);
        }
        fail(format!("invalid conversion specification: '%{}'", self.shown()))
    }

    /// The error of a letter that is no conversion.
    pub(super) fn unknown<T>(&self) -> Result<T, NativeError> {
        fail(format!("invalid conversion '%{}' to 'format'", self.shown()))
    }

    fn shown(&self) -> String {
        let text = self.text.strip_suffix(b"\0").unwrap_or(self.text);
        String::from_utf8_lossy(text).into_owned()
    }
}

impl Layout {
    /// Adds `text` filled with blanks to the width.
    pub(super) fn pad(&self, out: &mut Buffer<'_>, text: &[u8]) -> Result<(), NativeError> {
        let missing = self.width.saturating_sub(text.len());
        if !self.left {
            out.fill(b' ', missing)?;
        }
        out.add(text)?;
        if self.left {
            out.fill(b' ', missing)?;
        }
        Ok(())
    }

    /// Adds a number: its sign or base, zeros or blanks to the width, its digits.
    pub(super) fn pad_number(
        &self,
        out: &mut Buffer<'_>,
        head: &[u8],
        digits: &[u8],
        zeros: bool,
    ) -> Result<(), NativeError> {
        let missing = self.width.saturating_sub(head.len() + digits.len());
        let zeros = zeros && self.zero && !self.left;
        if !self.left && !zeros {
            out.fill(b' ', missing)?;
        }
        out.add(head)?;
        if zeros {
            out.fill(b'0', missing)?;
        }
        out.add(digits)?;
        if self.left {
            out.fill(b' ', missing)?;
        }
        Ok(())
    }

    /// The sign of a number.
    pub(super) fn sign(&self, negative: bool) -> &'static [u8] {
        match (negative, self.plus, self.blank) {
            (true, _, _) => b"-",
            (false, true, _) => b"+",
            (false, false, true) => b" ",
            _ => b"",
        }
    }
}

/// A number of up to two digits, 0 where there is none.
fn two_digits(text: &[u8]) -> (usize, &[u8]) {
    let count = text.iter().take(2).take_while(|byte| byte.is_ascii_digit()).count();
    let value = text[..count].iter().fold(0, |value, byte| value * 10 + usize::from(byte - b'0'));
    (value, &text[count..])
}
