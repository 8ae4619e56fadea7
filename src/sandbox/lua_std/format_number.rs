//! The numbers of `string.format`, as C's `printf` writes them.

use super::buffer::Buffer;
use super::format_spec::Layout;
use super::{NativeError, decimal};

/// The digits behind the point where no precision is given.
const PRECISION_DEFAULT: usize = 6;

/// Digits of a float for the price of one instruction: exact digits are long arithmetic.
const DIGITS_PER_INSTRUCTION: u64 = 2;

/// Adds an item of `%d`, `%i`, `%u`, `%o`, `%x` or `%X`.
pub(super) fn write_integer_item(
    out: &mut Buffer<'_>,
    letter: u8,
    layout: &Layout,
    integer: i64,
) -> Result<(), NativeError> {
    let unsigned = integer.cast_unsigned();
    let (mut head, mut digits) = match letter {
        b'd' | b'i' => (layout.sign(integer < 0), integer.unsigned_abs().to_string()),
        b'u' => (&b""[..], unsigned.to_string()),
        b'o' => (&b""[..], format!("{unsigned:o}")),
        b'X' => (&b"0X"[..], format!("{unsigned:X}")),
        _ => (&b"0x"[..], format!("{unsigned:x}")),
    };
    if matches!(letter, b'x' | b'X') && !(layout.alternative && integer != 0) {
        head = b"";
    }
    if let Some(precision) = layout.precision {
        if precision == 0 && integer == 0 {
            digits.clear();
        }
        digits.insert_str(0, &"0".repeat(precision.saturating_sub(digits.len())));
    }
    if letter == b'o' && layout.alternative && !digits.starts_with('0') {
        digits.insert(0, '0');
    }
    layout.pad_number(out, head, digits.as_bytes(), layout.precision.is_none())
}

/// Adds an item of `%a`, `%e`, `%f` or `%g`, or of their capitals.
pub(super) fn write_float_item(
    out: &mut Buffer<'_>,
    letter: u8,
    layout: &Layout,
    float: f64,
) -> Result<(), NativeError> {
    let head = layout.sign(float.is_sign_negative());
    let magnitude = float.abs();
    let mut digits = Vec::new();
    if float.is_finite() {
        out.charge(digits_of(letter, layout, magnitude) / DIGITS_PER_INSTRUCTION)?;
        let precision = layout.precision.unwrap_or(PRECISION_DEFAULT);
        match letter.to_ascii_lowercase() {
            b'a' => decimal::write_hexadecimal(&mut digits, magnitude, layout.precision, layout.alternative),
            b'e' => decimal::write_exponent(&mut digits, magnitude, precision, layout.alternative),
            b'f' => decimal::write_fixed(&mut digits, magnitude, precision, layout.alternative),
            _ => decimal::write_general(&mut digits, magnitude, precision, layout.alternative),
        }
    } else {
        digits.extend_from_slice(decimal::not_finite(magnitude));
    }
    if letter.is_ascii_uppercase() {
        digits.make_ascii_uppercase();
    }
    if letter.eq_ignore_ascii_case(&b'a') && float.is_finite() {
        // The zeros of the width come after `0x`.
        let prefix = [head, &digits[..2]].concat();
        return layout.pad_number(out, &prefix, &digits[2..], true);
    }
    layout.pad_number(out, head, &digits, float.is_finite())
}

/// About how many digits are computed.
fn digits_of(letter: u8, layout: &Layout, magnitude: f64) -> u64 {
    let precision = layout.precision.unwrap_or(PRECISION_DEFAULT) as u64;
    let exponent = (magnitude.to_bits() >> 52).abs_diff(1023);
    let whole = if magnitude >= 1.0 || letter != b'f' { exponent * 3 / 10 } else { 0 };
    precision + whole
}
