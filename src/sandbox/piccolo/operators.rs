//! The arithmetic and bitwise operators, with their metamethods.

use std::rc::Rc;

use piccolo::{Callback, Context, Value};

use super::fault;
use super::host::Host;
use super::numbers::{self, Computed, coerced, exact, float, integer};
use super::values::{Take, binary_metamethod, call_metamethod, give};
use crate::lua_std::number::Number;

enum Work {
    Arithmetic(fn(Number, Number) -> Computed),
    Bitwise(fn(i64, i64) -> i64),
}

struct Operator {
    name: &'static str,
    event: &'static str,
    work: Work,
}

macro_rules! arithmetic {
    ($name:literal, $event:literal, $integers:expr, $floats:expr) => {
        Operator {
            name: $name,
            event: $event,
            work: Work::Arithmetic(|left, right| {
                let (integers, floats): (fn(i64, i64) -> i64, fn(f64, f64) -> f64) = ($integers, $floats);
                Ok(match (left, right) {
                    (Number::Integer(left), Number::Integer(right)) => Number::Integer(integers(left, right)),
                    (left, right) => Number::Float(floats(float(left), float(right))),
                })
            }),
        }
    };
}

static OPERATORS: [Operator; 14] = [
    arithmetic!("add", "__add", i64::wrapping_add, |left, right| left + right),
    arithmetic!("sub", "__sub", i64::wrapping_sub, |left, right| left - right),
    arithmetic!("mul", "__mul", i64::wrapping_mul, |left, right| left * right),
    Operator {
        name: "div",
        event: "__div",
        work: Work::Arithmetic(|left, right| Ok(Number::Float(float(left) / float(right)))),
    },
    Operator { name: "idiv", event: "__idiv", work: Work::Arithmetic(numbers::floor_divide) },
    Operator { name: "mod", event: "__mod", work: Work::Arithmetic(numbers::modulo) },
    Operator {
        name: "pow",
        event: "__pow",
        work: Work::Arithmetic(|left, right| Ok(Number::Float(float(left).powf(float(right))))),
    },
    // With one operand, which stands on both sides.
    arithmetic!("unm", "__unm", |_, right| right.wrapping_neg(), |_, right| -right),
    Operator { name: "band", event: "__band", work: Work::Bitwise(|left, right| left & right) },
    Operator { name: "bor", event: "__bor", work: Work::Bitwise(|left, right| left | right) },
    Operator { name: "bxor", event: "__bxor", work: Work::Bitwise(|left, right| left ^ right) },
    Operator { name: "shl", event: "__shl", work: Work::Bitwise(numbers::shift_left) },
    Operator {
        name: "shr",
        event: "__shr",
        work: Work::Bitwise(|left, right| numbers::shift_left(left, right.saturating_neg())),
    },
    Operator { name: "bnot", event: "__bnot", work: Work::Bitwise(|_, right| !right) },
];

/// The helper of that name, if it is one of these.
pub(super) fn helper<'gc>(ctx: Context<'gc>, host: &Rc<Host>, name: &str) -> Option<Value<'gc>> {
    let operator = OPERATORS.iter().find(|operator| operator.name == name)?;
    let is_single = matches!(operator.name, "unm" | "bnot");
    let host = host.clone();
    let callback = Callback::from_fn(&ctx, move |ctx, exec, stack| {
        let left = stack.get(0);
        let right = if is_single { left } else { stack.get(1) };
        let wrong = match operate(operator, left, right) {
            Ok(Number::Integer(integer)) => return give(stack, Value::Integer(integer)),
            Ok(Number::Float(float)) => return give(stack, Value::Number(float)),
            Err(wrong) => wrong,
        };
        let method = binary_metamethod(ctx, left, right, operator.event);
        if !method.is_nil() {
            host.note_line(&exec);
            return call_metamethod(ctx, stack, method, &[left, right], Take::First);
        }
        let message = match wrong {
            Wrong::Message(message) => message.to_owned(),
            Wrong::Type(what) => {
                let culprit = if exact(left).is_some() { right } else { left };
                format!("attempt to perform {what} on a {} value", culprit.type_name())
            }
        };
        Err(fault::raise_text(&host, ctx, &exec, &message))
    });
    Some(callback.into())
}

enum Wrong {
    Type(&'static str),
    Message(&'static str),
}

fn operate(operator: &Operator, left: Value<'_>, right: Value<'_>) -> Result<Number, Wrong> {
    match operator.work {
        Work::Arithmetic(work) => {
            let operands = coerced(left).zip(coerced(right));
            let (left, right) = operands.ok_or(Wrong::Type("arithmetic"))?;
            work(left, right).map_err(Wrong::Message)
        }
        Work::Bitwise(work) => {
            let operands = exact(left).zip(exact(right));
            let (left, right) = operands.ok_or(Wrong::Type("bitwise operation"))?;
            let integers = integer(left).zip(integer(right));
            let (left, right) = integers.ok_or(Wrong::Message("number has no integer representation"))?;
            Ok(Number::Integer(work(left, right)))
        }
    }
}
