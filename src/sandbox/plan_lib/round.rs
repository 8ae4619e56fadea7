//! `math.round`: half away from zero, decided by the number's printed form.

use super::call::{Call, LibFunction};
use super::value::{Result, Value};

/// Beyond so many digits rounding gives the number itself, or 0.
const DIGITS_MAX: i64 = 400;

/// `math.round`, also known as `stats.round`.
pub(crate) static ROUND: LibFunction = LibFunction { name: "round", run: call };

fn call<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let digits = if call.is_absent(1) { 0 } else { call.integer(1, "digits")? };
    let number = call.arg(0);
    if let (Some(integer), false) = (call.as_integer(&number), matches!(number, Value::Number(_))) {
        return Ok(round_integer(integer, digits));
    }
    let rounded = round(call.number(0, "x")?, digits);
    // Without digits the caller wants a count, not a fraction that happens to be whole.
    const WHOLE: std::ops::Range<f64> = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    if digits <= 0 && WHOLE.contains(&rounded) {
        return Ok(Value::Integer(rounded as i64));
    }
    Ok(Value::Number(rounded))
}

fn round_integer<'v>(integer: i64, digits: i64) -> Value<'v> {
    if digits >= 0 {
        return Value::Integer(integer);
    }
    let Some(unit) = u32::try_from(digits.unsigned_abs()).ok().and_then(|power| 10_i128.checked_pow(power))
    else {
        return Value::Integer(0);
    };
    let (sign, size) = (i128::from(integer.signum()), i128::from(integer).abs());
    let rounded = sign * ((size + unit / 2) / unit * unit);
    // The exact result may be one unit beyond 64 bits and is then a float.
    i64::try_from(rounded).map_or(Value::Number(rounded as f64), Value::Integer)
}

/// Rounds at `digits` places after the point (before it, where negative).
///
/// Rounds the shortest decimal that reads back as the number: so 2.675 becomes 2.68 at two digits, as a
/// reader of "2.675" expects, although the double lies just below it.
pub(super) fn round(number: f64, digits: i64) -> f64 {
    if !number.is_finite() || number == 0.0 || digits >= DIGITS_MAX {
        return number;
    }
    if digits <= -DIGITS_MAX {
        return 0.0;
    }
    let text = format!("{:e}", number.abs());
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let exponent: i64 = exponent.parse().unwrap_or(0);
    let decimals = mantissa.bytes().filter(u8::is_ascii_digit).collect::<Vec<_>>();
    // The first decimal has the weight 10^exponent; `keep` of them lie above the cut.
    let keep = exponent + 1 + digits;
    let Ok(keep) = usize::try_from(keep) else { return 0.0 };
    if keep >= decimals.len() {
        return number;
    }
    let mut kept: u128 = 0;
    for digit in &decimals[..keep] {
        kept = kept * 10 + u128::from(digit - b'0');
    }
    if decimals[keep] >= b'5' {
        kept += 1;
    }
    let size: f64 = format!("{kept}e{}", -digits).parse().unwrap_or(number.abs());
    if kept == 0 { 0.0 } else { size.copysign(number) }
}
