//! Floats as C's `%e`, `%f`, `%g` and `%a` write them, without sign, flags and width.
//!
//! The digits come from the standard library, which rounds exactly, ties to even, at any precision.

use std::io::Write as _;

/// `inf`, `-inf`, `nan` or `-nan`.
pub(super) fn not_finite(float: f64) -> &'static [u8] {
    match (float.is_nan(), float.is_sign_negative()) {
        (true, false) => b"nan",
        (true, true) => b"-nan",
        (false, false) => b"inf",
        (false, true) => b"-inf",
    }
}

/// As `%.{precision}f`; `point` keeps the point of a number without fraction.
pub(super) fn write_fixed(out: &mut Vec<u8>, float: f64, precision: usize, point: bool) {
    let _ = write!(out, "{float:.precision$}"); // writing to memory cannot fail
    if point && precision == 0 {
        out.push(b'.');
    }
}

/// As `%.{precision}e`.
pub(super) fn write_exponent(out: &mut Vec<u8>, float: f64, precision: usize, point: bool) {
    let start = out.len();
    let exponent = take_digits(out, float, precision);
    if precision > 0 || point {
        out.insert(start + 1, b'.');
    }
    let _ = write!(out, "e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
}

/// As `%.{precision}g`; with `alternative`, as `%#g`: zeros at the end stay, and the point too.
pub(super) fn write_general(out: &mut Vec<u8>, float: f64, precision: usize, alternative: bool) {
    let precision = precision.max(1);
    let start = out.len();
    let exponent = take_digits(out, float, precision - 1);
    if !alternative {
        let kept = out[start..].iter().rposition(|digit| *digit != b'0').unwrap_or(0);
        out.truncate(start + kept + 1);
    }
    let digits = out.len() - start;
    if exponent < -4 || exponent >= precision as i32 {
        if digits > 1 || alternative {
            out.insert(start + 1, b'.');
        }
        let _ = write!(out, "e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs());
    } else if exponent < 0 {
        let zeros = exponent.unsigned_abs() as usize;
        out.splice(start..start, std::iter::repeat_n(b'0', zeros));
        out.insert(start + 1, b'.');
    } else {
        let whole = exponent as usize + 1;
        if digits < whole {
            out.resize(start + whole, b'0');
        }
        if digits > whole || alternative {
            out.insert(start + whole, b'.');
        }
    }
}

/// Appends `precision + 1` significant digits and gives the exponent of the first.
fn take_digits(out: &mut Vec<u8>, float: f64, precision: usize) -> i32 {
    let start = out.len();
    let _ = write!(out, "{float:.precision$e}");
    let mark = out[start..].iter().rposition(|byte| *byte == b'e').map_or(out.len(), |at| start + at);
    let exponent =
        out.get(mark + 1..).and_then(|text| std::str::from_utf8(text).ok()?.parse().ok()).unwrap_or(0);
    out.truncate(mark);
    if precision > 0 {
        out.remove(start + 1);
    }
    exponent
}

/// As `%a`, or `%.{precision}a`: `0x`, the mantissa in hexadecimal, and the power of two.
pub(super) fn write_hexadecimal(out: &mut Vec<u8>, float: f64, precision: Option<usize>, point: bool) {
    const MANTISSA_BITS: u32 = 52;
    const MANTISSA_DIGITS: usize = 13;
    let bits = float.to_bits();
    let fraction = bits & ((1 << MANTISSA_BITS) - 1);
    let raw_exponent = (bits >> MANTISSA_BITS & 0x7ff) as i32;
    let mut exponent = if raw_exponent == 0 { -1022 } else { raw_exponent - 1023 };
    if float == 0.0 {
        exponent = 0;
    }
    let mut mantissa = if raw_exponent == 0 { fraction } else { fraction | 1 << MANTISSA_BITS };
    if let Some(precision) = precision.filter(|precision| *precision < MANTISSA_DIGITS) {
        let cut = 4 * (MANTISSA_DIGITS - precision);
        let rest = mantissa & ((1 << cut) - 1);
        let half = 1 << (cut - 1);
        mantissa >>= cut;
        if rest > half || (rest == half && mantissa & 1 == 1) {
            mantissa += 1;
        }
        mantissa <<= cut;
    }
    let digits = format!("{:013x}", mantissa & ((1 << MANTISSA_BITS) - 1));
    let shown = match precision {
        None => digits.trim_end_matches('0'),
        Some(precision) => &digits[..precision.min(MANTISSA_DIGITS)],
    };
    let _ = write!(out, "0x{}", mantissa >> MANTISSA_BITS);
    if !shown.is_empty() || point || precision.is_some_and(|precision| precision > 0) {
        out.push(b'.');
    }
    out.extend_from_slice(shown.as_bytes());
    out.extend(std::iter::repeat_n(b'0', precision.unwrap_or(0).saturating_sub(MANTISSA_DIGITS)));
    let _ = write!(out, "p{exponent:+}");
}
