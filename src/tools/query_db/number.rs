//! Numbers that JSON and Lua have no exact place for.

use crate::base::Value;

/// A double as a value; NaN and the infinities become text, as a value may not hold them.
pub(super) fn float(number: f64) -> Value {
    if number.is_finite() {
        return Value::Float(number);
    }
    let text = if number.is_nan() {
        "NaN"
    } else if number > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    };
    Value::String(text.to_owned())
}

/// A single-precision number as the double with the same shortest decimal form, so that 1.1 stays
/// 1.1.
pub(super) fn single(number: f32) -> Value {
    float(number.to_string().parse().unwrap_or(f64::from(number)))
}

/// A decimal as a number where no digit is lost, else as its text.
pub(super) fn decimal(text: &str) -> Value {
    let plain = match text.split_once('.') {
        None => match text.parse::<i64>() {
            Ok(integer) => return Value::Integer(integer),
            Err(_) => text,
        },
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
        Some(_) => text.trim_end_matches('0'),
    };
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() && number.to_string() == plain => Value::Float(number),
        _ => Value::String(text.to_owned()),
    }
}

/// An unsigned integer as a number where it fits, else as its text.
pub(super) fn unsigned(number: u64) -> Value {
    i64::try_from(number).map_or_else(|_| Value::String(number.to_string()), Value::Integer)
}
