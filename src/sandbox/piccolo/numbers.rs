//! Numbers as Lua computes with them.

use piccolo::Value;

use crate::lua_std::number;
use crate::lua_std::number::Number;

/// The number a value is, or that its text stands for.
pub(super) fn coerced(value: Value<'_>) -> Option<Number> {
    match value {
        Value::Integer(integer) => Some(Number::Integer(integer)),
        Value::Number(float) => Some(Number::Float(float)),
        Value::String(text) => number::parse(text.as_bytes()),
        _ => None,
    }
}

/// The number a value is.
pub(super) fn exact(value: Value<'_>) -> Option<Number> {
    match value {
        Value::Integer(_) | Value::Number(_) => coerced(value),
        _ => None,
    }
}

/// A number as a float.
pub(super) fn float(number: Number) -> f64 {
    match number {
        Number::Integer(integer) => integer as f64,
        Number::Float(float) => float,
    }
}

/// A number as an integer, where it is one.
pub(super) fn integer(number: Number) -> Option<i64> {
    match number {
        Number::Integer(integer) => Some(integer),
        Number::Float(float) => number::float_to_integer(float),
    }
}

/// Whether two numbers are equal, exactly.
pub(super) fn equal(left: Value<'_>, right: Value<'_>) -> bool {
    match (left, right) {
        (Value::Integer(left), Value::Integer(right)) => left == right,
        (Value::Number(left), Value::Number(right)) => left == right,
        (Value::Integer(whole), Value::Number(other)) | (Value::Number(other), Value::Integer(whole)) => {
            number::float_to_integer(other) == Some(whole)
        }
        _ => false,
    }
}

/// What an operation gives.
pub(super) type Computed = Result<Number, &'static str>;

/// `left // right`
pub(super) fn floor_divide(left: Number, right: Number) -> Computed {
    match (left, right) {
        (Number::Integer(_), Number::Integer(0)) => Err("attempt to divide by zero"),
        (Number::Integer(left), Number::Integer(right)) => {
            let quotient = left.wrapping_div(right);
            let exact = left.wrapping_rem(right) == 0;
            let down = !exact && (left < 0) != (right < 0);
            Ok(Number::Integer(quotient.wrapping_sub(i64::from(down))))
        }
        (left, right) => Ok(Number::Float((float(left) / float(right)).floor())),
    }
}

/// `left % right`, with the sign of `right`
pub(super) fn modulo(left: Number, right: Number) -> Computed {
    match (left, right) {
        (Number::Integer(_), Number::Integer(0)) => Err("attempt to perform 'n%0'"),
        (Number::Integer(left), Number::Integer(right)) => {
            let rest = left.wrapping_rem(right);
            let other_side = rest != 0 && (rest < 0) != (right < 0);
            Ok(Number::Integer(if other_side { rest.wrapping_add(right) } else { rest }))
        }
        (left, right) => {
            let (left, right) = (float(left), float(right));
            let rest = left % right;
            let other_side =
                if rest > 0.0 { right < 0.0 } else { rest < 0.0 && right != rest && right > 0.0 };
            Ok(Number::Float(if other_side { rest + right } else { rest }))
        }
    }
}

/// Shifts to the left, to the right where `by` is negative.
pub(super) fn shift_left(bits: i64, by: i64) -> i64 {
    let width = by.unsigned_abs();
    if width >= 64 {
        0
    } else if by >= 0 {
        bits << width
    } else {
        (bits as u64 >> width) as i64
    }
}

/// Compares an integer with a float that is not a NaN.
fn compare_mixed(whole: i64, other: f64) -> std::cmp::Ordering {
    const TWO_63: f64 = 9_223_372_036_854_775_808.0;
    if other >= TWO_63 {
        return std::cmp::Ordering::Less;
    }
    if other < -TWO_63 {
        return std::cmp::Ordering::Greater;
    }
    let floor = other.floor();
    whole.cmp(&(floor as i64)).then(if floor < other {
        std::cmp::Ordering::Less
    } else {
        std::cmp::Ordering::Equal
    })
}

/// The order of two numbers; none where one is a NaN.
pub(super) fn compare(left: Number, right: Number) -> Option<std::cmp::Ordering> {
    match (left, right) {
        (Number::Integer(left), Number::Integer(right)) => Some(left.cmp(&right)),
        (Number::Float(left), Number::Float(right)) => left.partial_cmp(&right),
        (Number::Integer(_), Number::Float(right)) if right.is_nan() => None,
        (Number::Float(left), Number::Integer(_)) if left.is_nan() => None,
        (Number::Integer(left), Number::Float(right)) => Some(compare_mixed(left, right)),
        (Number::Float(left), Number::Integer(right)) => Some(compare_mixed(right, left).reverse()),
    }
}
