//! Numbers of a database as values. The type of a column decides, never the size of one of its numbers.

use serde_json::Value as Json;

use luaplan_base::{Value, fixed_point};

use super::settings::Decimals;

/// A double; `None` for NaN and the infinities, which a value may not hold.
pub(super) fn float(number: f64) -> Option<Value> {
    number.is_finite().then_some(Value::Float(number))
}

/// A single-precision number as the double with the same shortest decimal form, so that 1.1 stays
/// 1.1.
pub(super) fn single(number: f32) -> Option<Value> {
    float(number.to_string().parse().unwrap_or(f64::from(number)))
}

/// A decimal: its text where decimals are kept exact, else the whole number or the nearest double. `None` for
/// what has no double, as NaN.
pub(super) fn decimal(text: &str, decimals: Decimals) -> Option<Value> {
    if decimals == Decimals::Text {
        return Some(Value::from(text));
    }
    let whole = match text.split_once('.') {
        Some((whole, fraction)) if fraction.bytes().all(|digit| digit == b'0') => whole,
        _ => text,
    };
    match whole.parse::<i64>() {
        Ok(integer) => Some(Value::Integer(integer)),
        Err(_) => float(text.parse().ok()?),
    }
}

/// An integer of a type that reaches beyond 64 signed bits: its text where numbers are kept exact, else the integer
/// or, beyond, the nearest double.
pub(super) fn unsigned(number: u64, decimals: Decimals) -> Option<Value> {
    decimal(&number.to_string(), decimals)
}

/// Microseconds as seconds: a whole number where there is no fraction.
pub(super) fn seconds(micros: i128) -> Option<Value> {
    decimal(&fixed_point(micros, 6), Decimals::Number)
}

/// Microseconds as the fraction after a clock's seconds: `.5`; empty for 0.
pub(super) fn fraction(micros: u64) -> String {
    format!(".{micros:06}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A document; integers beyond 64 signed bits become the nearest double.
pub(super) fn json(text: &str) -> Option<Value> {
    let mut document = serde_json::from_str(text).ok()?;
    round_large(&mut document);
    Value::from_json(document).ok()
}

fn round_large(document: &mut Json) {
    match document {
        Json::Number(number) if number.as_i64().is_none() => {
            if let Some(double) = number.as_f64() {
                *document = Json::from(double);
            }
        }
        Json::Array(items) => items.iter_mut().for_each(round_large),
        Json::Object(members) => members.values_mut().for_each(round_large),
        _ => {}
    }
}
