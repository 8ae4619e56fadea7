//! Numbers to text and text to numbers, as Lua writes and reads them.

use std::io::Write as _;

use super::decimal;

/// A Lua number; only `math.type` distinguishes the two kinds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Number {
    /// 64 signed bits; arithmetic wraps.
    Integer(i64),
    /// A double.
    Float(f64),
}

/// Digits a float is written with where no format is given: as `%.14g` of C.
const FLOAT_DIGITS: usize = 14;

/// Significant digits that can decide how a decimal numeral is rounded to a double; what follows
/// matters only by being zero or not.
const DIGITS_DECISIVE: usize = 800;

/// Whether Lua takes this byte for white space around a numeral.
#[must_use]
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Writes a number as `tostring` does.
pub(crate) fn write_number(out: &mut Vec<u8>, number: Number) {
    match number {
        Number::Integer(integer) => write_integer(out, integer),
        Number::Float(float) => write_float(out, float),
    }
}

/// Writes an integer in decimal digits.
pub(crate) fn write_integer(out: &mut Vec<u8>, integer: i64) {
    let _ = write!(out, "{integer}"); // writing to memory cannot fail
}

/// Writes a float as `tostring` does: up to 14 significant digits, and `.0` where it would
/// otherwise read as an integer. A NaN is `nan` or, with its sign bit set, `-nan`.
pub(crate) fn write_float(out: &mut Vec<u8>, float: f64) {
    let start = out.len();
    if !float.is_finite() {
        out.extend_from_slice(decimal::not_finite(float));
        return;
    }
    if float.is_sign_negative() {
        out.push(b'-');
    }
    decimal::write_general(out, float.abs(), FLOAT_DIGITS, false);
    if out[start..].iter().all(|byte| byte.is_ascii_digit() || *byte == b'-') {
        out.extend_from_slice(b".0");
    }
}

/// The integer a float stands for, where it is whole and fits.
#[must_use]
pub(crate) fn float_to_integer(float: f64) -> Option<i64> {
    // Both bounds are doubles exactly: -2^63 fits, 2^63 does not.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&float);
    (fits && float.floor() == float).then_some(float as i64)
}

/// Reads a numeral as `tonumber` and the coercions of Lua do: white space around it, a sign,
/// decimal or hexadecimal, whole or with fraction and exponent. `None` where it is not one.
#[must_use]
pub(crate) fn parse(text: &[u8]) -> Option<Number> {
    let text = trim(text);
    let (negative, digits) = sign(text);
    if let Some(hexadecimal) = strip_hex(digits) {
        if !hexadecimal.is_empty() && hexadecimal.iter().all(u8::is_ascii_hexdigit) {
            let value = hexadecimal.iter().fold(0_u64, |value, byte| value << 4 | hex_value(*byte));
            return Some(Number::Integer(signed(negative, value)));
        }
        return parse_hex_float(hexadecimal)
            .map(|float| Number::Float(if negative { -float } else { float }));
    }
    if let Some(integer) = parse_decimal_integer(digits, negative) {
        return Some(Number::Integer(integer));
    }
    parse_decimal_float(digits).map(|float| Number::Float(if negative { -float } else { float }))
}

/// Reads an integer in a base of 2 to 36, as `tonumber` with a base does: digits wrap around at
/// 64 bits. `None` where the text is not such a numeral.
#[must_use]
pub(crate) fn parse_in_base(text: &[u8], base: u64) -> Option<i64> {
    let (negative, digits) = sign(trim(text));
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_u64;
    for byte in digits {
        let digit = u64::from(char::from(*byte).to_digit(36)?);
        if digit >= base {
            return None;
        }
        value = value.wrapping_mul(base).wrapping_add(digit);
    }
    Some(signed(negative, value))
}

fn trim(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| !is_space(*byte)).unwrap_or(text.len());
    let end = text.iter().rposition(|byte| !is_space(*byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

fn sign(text: &[u8]) -> (bool, &[u8]) {
    match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    }
}

fn signed(negative: bool, value: u64) -> i64 {
    (if negative { value.wrapping_neg() } else { value }).cast_signed()
}

fn strip_hex(digits: &[u8]) -> Option<&[u8]> {
    digits.strip_prefix(b"0x").or_else(|| digits.strip_prefix(b"0X"))
}

fn hex_value(byte: u8) -> u64 {
    char::from(byte).to_digit(16).map_or(0, u64::from)
}

fn parse_decimal_integer(digits: &[u8], negative: bool) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    let mut value = 0_u64;
    for byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        value = value.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
        if value > i64::MAX.cast_unsigned() + u64::from(negative) {
            return None;
        }
    }
    Some(signed(negative, value))
}

/// The exponent behind a mantissa: nothing, or the mark, a sign, and digits to the end. Saturates
/// where no double reaches.
fn parse_exponent(rest: &[u8], mark: u8) -> Option<i64> {
    let Some((first, rest)) = rest.split_first() else { return Some(0) };
    if first.to_ascii_lowercase() != mark {
        return None;
    }
    let (negative, digits) = sign(rest);
    if digits.is_empty() {
        return None;
    }
    let mut exponent = 0_i64;
    for byte in digits {
        if !byte.is_ascii_digit() {
            return None;
        }
        exponent = (exponent.saturating_mul(10) + i64::from(byte - b'0')).min(1 << 50);
    }
    Some(if negative { -exponent } else { exponent })
}

/// A mantissa cut into its significant digits: the kept ones, whether a nonzero digit was dropped after
/// them, the position of the point relative to the first kept digit, and the rest of the text.
struct Mantissa<'a> {
    kept: Vec<u8>,
    dropped: bool,
    point: i64,
    rest: &'a [u8],
}

fn mantissa(text: &[u8], most: usize, is_digit: fn(&u8) -> bool) -> Option<Mantissa<'_>> {
    let mut found = Mantissa { kept: Vec::new(), dropped: false, point: 0, rest: &[] };
    let (mut any, mut behind_point, mut end) = (false, false, text.len());
    for (place, byte) in text.iter().enumerate() {
        if *byte == b'.' && !behind_point {
            behind_point = true;
        } else if is_digit(byte) {
            any = true;
            let significant = !found.kept.is_empty() || *byte != b'0';
            if significant && found.kept.len() < most {
                found.kept.push(*byte);
            } else if *byte != b'0' {
                found.dropped = true;
            }
            found.point += match (significant, behind_point) {
                (true, false) => 1,
                (false, true) => -1,
                _ => 0,
            };
        } else {
            end = place;
            break;
        }
    }
    found.rest = &text[end..];
    any.then_some(found)
}

fn parse_decimal_float(digits: &[u8]) -> Option<f64> {
    let mut found = mantissa(digits, DIGITS_DECISIVE, u8::is_ascii_digit)?;
    let exponent = parse_exponent(found.rest, b'e')?;
    if found.kept.is_empty() {
        return Some(0.0);
    }
    if found.dropped {
        found.kept.push(b'1');
    }
    let scale = exponent.saturating_add(found.point).clamp(-100_000, 100_000);
    let mut text = Vec::with_capacity(found.kept.len() + 16);
    text.extend_from_slice(b"0.");
    text.extend_from_slice(&found.kept);
    let _ = write!(text, "e{scale}");
    std::str::from_utf8(&text).ok()?.parse().ok()
}

fn parse_hex_float(digits: &[u8]) -> Option<f64> {
    // 16 digits hold every bit of a double, and the bit that decides its rounding.
    let found = mantissa(digits, 16, u8::is_ascii_hexdigit)?;
    let exponent = parse_exponent(found.rest, b'p')?;
    if found.kept.is_empty() {
        return Some(0.0);
    }
    let value = found.kept.iter().fold(0_u64, |value, byte| value << 4 | hex_value(*byte));
    let power = found.point.saturating_sub(found.kept.len() as i64).saturating_mul(4);
    Some(scaled(value, found.dropped, exponent.saturating_add(power)))
}

/// `value · 2^power`, rounded once to the nearest double, ties to even; `sticky` says that a little
/// more follows `value`, which then has at least 61 bits.
fn scaled(value: u64, sticky: bool, power: i64) -> f64 {
    let shift = value.leading_zeros();
    let top = value << shift; // the highest bit is set
    let exponent = power.saturating_sub(i64::from(shift)).saturating_add(63); // of that bit
    if exponent > 1023 {
        return f64::INFINITY;
    }
    // Bits a double has room for: 53, and fewer below its normal range.
    let room = if exponent >= -1022 { 53 } else { 53 + (exponent + 1022).max(-60) };
    if room < 0 {
        return 0.0;
    }
    let cut = 64 - room;
    let (whole, rest, half) = if cut == 64 {
        (0, u128::from(top), 1_u128 << 63)
    } else {
        (top >> cut, u128::from(top) & ((1_u128 << cut) - 1), 1_u128 << (cut - 1))
    };
    let up = rest > half || (rest == half && (sticky || whole & 1 == 1));
    let rounded = whole + u64::from(up);
    // Rounding up may carry into the exponent; the layout of doubles makes the result correct.
    let bits = if exponent >= -1022 { ((exponent + 1022) as u64) << 52 } else { 0 };
    f64::from_bits(bits + rounded)
}
