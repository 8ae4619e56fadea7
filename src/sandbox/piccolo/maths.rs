//! The math library of Lua 5.4, without randomness.

use std::cmp::Ordering;
use std::rc::Rc;

use piccolo::{Callback, Context, Execution, Stack, Table, Value};

use super::callbacks::wanted;
use super::fault::{self, Raised};
use super::host::Host;
use super::numbers::{coerced, float, integer};
use super::order;
use super::values::{give, text};
use crate::lua_std::number::Number;

/// The arguments of a call, read with Lua's messages.
struct Call<'gc, 'a, 'b> {
    host: &'a Host,
    ctx: Context<'gc>,
    exec: &'a Execution<'gc, 'b>,
    name: &'static str,
}

type MathResult<'gc> = Result<Vec<Value<'gc>>, Raised<'gc>>;

impl<'gc> Call<'gc, '_, '_> {
    fn bad(&self, place: usize, message: &str) -> Raised<'gc> {
        fault::bad_argument(self.host, self.ctx, self.exec, place + 1, self.name, message)
    }

    fn numeral(&self, stack: &Stack<'gc, '_>, place: usize) -> Result<Number, Raised<'gc>> {
        coerced(stack.get(place)).ok_or_else(|| self.bad(place, &wanted("number", stack, place)))
    }

    /// A number as this library reads it: a numeral in a text is always a float.
    fn number(&self, stack: &Stack<'gc, '_>, place: usize) -> Result<Number, Raised<'gc>> {
        match stack.get(place) {
            Value::Integer(integer) => Ok(Number::Integer(integer)),
            _ => self.float(stack, place).map(Number::Float),
        }
    }

    fn float(&self, stack: &Stack<'gc, '_>, place: usize) -> Result<f64, Raised<'gc>> {
        self.numeral(stack, place).map(float)
    }

    fn integer(&self, stack: &Stack<'gc, '_>, place: usize) -> Result<i64, Raised<'gc>> {
        let number = self.numeral(stack, place)?;
        integer(number).ok_or_else(|| self.bad(place, "number has no integer representation"))
    }
}

/// A float as an integer where it fits, as `math.floor` gives it.
fn whole<'gc>(rounded: f64) -> Value<'gc> {
    integer(Number::Float(rounded)).map_or(Value::Number(rounded), Value::Integer)
}

type Function = for<'gc> fn(&Call<'gc, '_, '_>, &Stack<'gc, '_>) -> MathResult<'gc>;

macro_rules! floats {
    ($($name:literal: $work:expr),+ $(,)?) => {
        [$(($name, (|call, stack| {
            let work: fn(f64) -> f64 = $work;
            Ok(vec![Value::Number(work(call.float(stack, 0)?))])
        }) as Function)),+]
    };
}

const FLOATS: [(&str, Function); 9] = floats! {
    "acos": f64::acos, "asin": f64::asin, "cos": f64::cos, "deg": |x| x * (180.0 / std::f64::consts::PI),
    "exp": f64::exp, "rad": |x| x * (std::f64::consts::PI / 180.0), "sin": f64::sin, "sqrt": f64::sqrt,
    "tan": f64::tan,
};

const FUNCTIONS: [(&str, Function); 12] = [
    ("abs", |call, stack| {
        Ok(vec![match call.number(stack, 0)? {
            Number::Integer(integer) => Value::Integer(integer.wrapping_abs()),
            Number::Float(float) => Value::Number(float.abs()),
        }])
    }),
    ("atan", |call, stack| {
        let x = if stack.get(1).is_nil() { 1.0 } else { call.float(stack, 1)? };
        Ok(vec![Value::Number(call.float(stack, 0)?.atan2(x))])
    }),
    ("ceil", |call, stack| {
        Ok(vec![match call.number(stack, 0)? {
            Number::Integer(integer) => Value::Integer(integer),
            Number::Float(float) => whole(float.ceil()),
        }])
    }),
    ("floor", |call, stack| {
        Ok(vec![match call.number(stack, 0)? {
            Number::Integer(integer) => Value::Integer(integer),
            Number::Float(float) => whole(float.floor()),
        }])
    }),
    ("fmod", |call, stack| {
        Ok(vec![match (call.number(stack, 0)?, call.number(stack, 1)?) {
            (Number::Integer(_), Number::Integer(0)) => return Err(call.bad(1, "zero")),
            (Number::Integer(left), Number::Integer(right)) => Value::Integer(left.wrapping_rem(right)),
            (left, right) => Value::Number(float(left) % float(right)),
        }])
    }),
    ("log", |call, stack| {
        let x = call.float(stack, 0)?;
        if stack.get(1).is_nil() {
            return Ok(vec![Value::Number(x.ln())]);
        }
        let base = call.float(stack, 1)?;
        Ok(vec![Value::Number(if base == 2.0 {
            x.log2()
        } else if base == 10.0 {
            x.log10()
        } else {
            x.ln() / base.ln()
        })])
    }),
    ("max", |call, stack| extreme(call, stack, Ordering::Greater)),
    ("min", |call, stack| extreme(call, stack, Ordering::Less)),
    ("modf", |call, stack| {
        let number = match call.number(stack, 0)? {
            Number::Integer(integer) => return Ok(vec![Value::Integer(integer), Value::Number(0.0)]),
            Number::Float(float) => float,
        };
        let part = number.trunc();
        let rest = if number.is_infinite() { 0.0 } else { number - part };
        Ok(vec![whole(part), Value::Number(rest)])
    }),
    ("tointeger", |call, stack| {
        if stack.is_empty() {
            return Err(call.bad(0, "value expected"));
        }
        Ok(vec![coerced(stack.get(0)).and_then(integer).map_or(Value::Nil, Value::Integer)])
    }),
    ("type", |call, stack| {
        if stack.is_empty() {
            return Err(call.bad(0, "value expected"));
        }
        Ok(vec![match stack.get(0) {
            Value::Integer(_) => text(call.ctx, "integer"),
            Value::Number(_) => text(call.ctx, "float"),
            _ => Value::Nil,
        }])
    }),
    ("ult", |call, stack| {
        let (left, right) = (call.integer(stack, 0)?, call.integer(stack, 1)?);
        Ok(vec![Value::Boolean((left as u64) < right as u64)])
    }),
];

/// The first of the greatest or least arguments, unconverted: a numeral stays text, and is compared as text.
fn extreme<'gc>(call: &Call<'gc, '_, '_>, stack: &Stack<'gc, '_>, side: Ordering) -> MathResult<'gc> {
    call.number(stack, 0)?;
    let mut best = stack.get(0);
    for place in 1..stack.len() {
        call.number(stack, place)?;
        let other = stack.get(place);
        // Lua asks whether the new one is less, or the best so far is.
        let (left, right) = if side == Ordering::Less { (other, best) } else { (best, other) };
        if order::ordered(call.host, call.ctx, call.exec, left, right)? == Some(Ordering::Less) {
            best = other;
        }
    }
    Ok(vec![best])
}

/// Sets the global `math`.
pub(super) fn install<'gc>(ctx: Context<'gc>, host: &Rc<Host>) -> Result<(), Raised<'gc>> {
    let library = Table::new(&ctx);
    for (name, run) in FLOATS.into_iter().chain(FUNCTIONS) {
        let host = host.clone();
        let callback = Callback::from_fn(&ctx, move |ctx, exec, mut stack| {
            let call = Call { host: &host, ctx, exec: &exec, name };
            let results = run(&call, &stack)?;
            if let [single] = results.as_slice() {
                return give(stack, *single);
            }
            stack.clear();
            stack.extend(results);
            Ok(piccolo::CallbackReturn::Return)
        });
        library.set(ctx, name, callback)?;
    }
    library.set(ctx, "pi", std::f64::consts::PI)?;
    library.set(ctx, "huge", f64::INFINITY)?;
    library.set(ctx, "maxinteger", i64::MAX)?;
    library.set(ctx, "mininteger", i64::MIN)?;
    ctx.set_global("math", library)?;
    Ok(())
}
