//! The filters, tests and functions an inline template has, each counted by the meter.
//!
//! A template has only those listed here: `chain`, `zip`, `pprint`, `dict` and `debug` are missing
//! because their results can be far larger than their arguments.

use std::sync::{Arc, LazyLock};

use minijinja::value::{Kwargs, Rest, Value, ValueOrKwargs};
use minijinja::{Environment, Error, ErrorKind, State, filters};

use super::formatting;
use super::meter::FilterMeter;

/// Read only the outside of a value.
const CHEAP: [&str; 13] = [
    "length", "count", "first", "last", "default", "d", "abs", "round", "int", "float", "bool", "attr",
    "safe",
];
/// Walk through the value once or sort it; the result is about as large.
const WALKING: [&str; 24] = [
    "escape",
    "e",
    "lower",
    "upper",
    "title",
    "capitalize",
    "dictsort",
    "items",
    "reverse",
    "trim",
    "split",
    "lines",
    "min",
    "max",
    "sort",
    "list",
    "string",
    "sum",
    "groupby",
    "unique",
    "urlencode",
    "tojson",
    "join",
    "replace",
];
/// What a model is told of them: how those are called that other engines lack or call otherwise, and the most used.
pub(super) const SHOWN: [&str; 15] = [
    "number(2)",
    "date(\"%d.%m.%Y\")",
    "truncate(40)",
    "format",
    "default(\"\")",
    "round(2)",
    "length",
    "join(\", \")",
    "sort(attribute=\"x\")",
    "sum(attribute=\"x\")",
    "groupby(\"x\")",
    "unique",
    "upper",
    "replace",
    "tojson",
];
const SLICING: [&str; 3] = ["batch", "slice", "indent"];
/// Call other filters or tests.
const MAPPING: [&str; 5] = ["map", "select", "reject", "selectattr", "rejectattr"];
/// Write values in a form that the engine does not have, or not counted.
const FORMATTING: [&str; 4] = ["format", "number", "date", "truncate"];
const TESTS: [&str; 33] = [
    "undefined",
    "defined",
    "none",
    "boolean",
    "odd",
    "even",
    "divisibleby",
    "number",
    "integer",
    "int",
    "float",
    "string",
    "sequence",
    "iterable",
    "mapping",
    "startingwith",
    "endingwith",
    "lower",
    "upper",
    "eq",
    "equalto",
    "==",
    "ne",
    "!=",
    "lt",
    "lessthan",
    "<",
    "gt",
    "greaterthan",
    ">",
    "in",
    "true",
    "false",
];
/// A walk with comparisons costs so many times a walk without.
const COMPARING_FACTOR: u64 = 8;
const SLICES_MAX: i64 = 10_000;
const INDENT_MAX: i64 = 64;

/// The engine with everything it comes with, to borrow its filters and tests from.
static ENGINE: LazyLock<Environment<'static>> = LazyLock::new(|| {
    let mut engine = Environment::new();
    engine.set_undefined_behavior(minijinja::UndefinedBehavior::SemiStrict);
    engine
});

/// The filters that an inline template has.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    [&CHEAP[..], &WALKING, &SLICING, &MAPPING, &FORMATTING].into_iter().flatten().copied()
}

/// The tests that it has.
pub(super) fn tests() -> impl Iterator<Item = &'static str> {
    TESTS.into_iter()
}

/// Adds everything an inline template has.
pub(super) fn add(environment: &mut Environment<'_>, meter: &Arc<FilterMeter>) {
    for name in CHEAP {
        environment.add_filter(name, |args: Rest<ValueOrKwargs>| borrow_filter(name, &args.into_values()));
    }
    for name in WALKING {
        let meter = meter.clone();
        environment.add_filter(name, move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
            let args = args.into_values();
            charge_growth(&meter, name, &args)?;
            // `escape` depends on the format being written.
            if matches!(name, "escape" | "e") {
                return filters::escape(state, args.first().unwrap_or(&Value::UNDEFINED));
            }
            borrow_filter(name, &args)
        });
    }
    for name in SLICING {
        let meter = meter.clone();
        environment.add_filter(name, move |args: Rest<ValueOrKwargs>| {
            let args = args.into_values();
            charge_slices(&meter, name, &args)?;
            borrow_filter(name, &args)
        });
    }
    add_mapping(environment, meter);
    let counted = meter.clone();
    environment.add_filter("format", move |state: &mut State<'_, '_>, args: Rest<ValueOrKwargs>| {
        let args = args.into_values();
        let (format, values) = args.split_first().ok_or_else(|| Error::from(ErrorKind::MissingArgument))?;
        printf(&counted, state, format, values.to_vec())
    });
    let counted = meter.clone();
    formatting::add(environment, move |value, bytes| {
        counted.charge_text(value)?;
        counted.charge(bytes as u64)
    });
    for name in TESTS {
        let meter = meter.clone();
        environment.add_test(name, move |args: Rest<Value>| {
            args.iter().try_for_each(|value| meter.charge_walk(value))?;
            ENGINE.empty_state().perform_test(name, &args)
        });
    }
    environment.add_function("range", minijinja::functions::range);
    environment.add_function("namespace", minijinja::functions::namespace);
}

/// The filters that call other filters or tests: they find the counted ones through the state.
fn add_mapping(environment: &mut Environment<'_>, meter: &Arc<FilterMeter>) {
    type Args = Rest<ValueOrKwargs>;
    let counted = meter.clone();
    environment.add_filter("map", move |state: &mut State<'_, '_>, value: Value, args: Args| {
        counted.charge_walk(&value)?;
        filters::map(state, value, args)
    });
    let counted = meter.clone();
    environment.add_filter(
        "select",
        move |state: &mut State<'_, '_>,
              value: Value,
              test: Option<std::borrow::Cow<'_, str>>,
              args: Args| {
            counted.charge_walk(&value)?;
            filters::select(state, value, test, args)
        },
    );
    let counted = meter.clone();
    environment.add_filter(
        "reject",
        move |state: &mut State<'_, '_>,
              value: Value,
              test: Option<std::borrow::Cow<'_, str>>,
              args: Args| {
            counted.charge_walk(&value)?;
            filters::reject(state, value, test, args)
        },
    );
    let counted = meter.clone();
    environment.add_filter(
        "selectattr",
        move |state: &mut State<'_, '_>,
              value: Value,
              attribute: std::borrow::Cow<'_, str>,
              test: Option<std::borrow::Cow<'_, str>>,
              args: Args| {
            counted.charge_walk(&value)?;
            filters::selectattr(state, value, attribute, test, args)
        },
    );
    let counted = meter.clone();
    environment.add_filter(
        "rejectattr",
        move |state: &mut State<'_, '_>,
              value: Value,
              attribute: std::borrow::Cow<'_, str>,
              test: Option<std::borrow::Cow<'_, str>>,
              args: Args| {
            counted.charge_walk(&value)?;
            filters::rejectattr(state, value, attribute, test, args)
        },
    );
}

fn borrow_filter(name: &str, args: &[Value]) -> Result<Value, Error> {
    ENGINE.empty_state().apply_filter(name, args)
}

/// The remainder of two numbers, as the engine has it.
pub(super) fn remainder(left: Value, right: Value) -> Result<Value, Error> {
    ENGINE.compile_expression("left % right")?.eval(minijinja::context! { left, right })
}

/// Writes by a `printf` format, counted before it is done.
pub(super) fn printf(
    meter: &FilterMeter,
    state: &mut State<'_, '_>,
    format: &Value,
    values: Vec<Value>,
) -> Result<Value, Error> {
    let (bytes, conversions) = formatting::widths(format.as_str().unwrap_or_default())?;
    meter.charge_text(format)?;
    let mut of_values = 0_u64;
    for value in &values {
        of_values = of_values.saturating_add(meter.charge_text(value)?);
    }
    // Each conversion may write the same value.
    meter.charge(bytes.saturating_add(conversions.saturating_mul(of_values)))?;
    filters::format(state, format, Rest(values.into_iter().map(ValueOrKwargs::from).collect()))
}

/// The arguments of a filter behind its value, named ones included.
fn options(args: &[Value]) -> Vec<Value> {
    let named = args.last().and_then(|last| Kwargs::try_from(last.clone()).ok());
    let named = named.iter().flat_map(|named| named.args().filter_map(|name| named.peek::<Value>(name).ok()));
    args.iter().skip(1).cloned().chain(named).collect()
}

/// The largest whole number among the arguments of a filter.
fn largest(args: &[Value]) -> i64 {
    options(args).iter().filter_map(Value::as_i64).max().unwrap_or_default()
}

/// Counts a filter before it runs: its arguments, and the size its result can have.
fn charge_growth(meter: &FilterMeter, name: &str, args: &[Value]) -> Result<(), Error> {
    let mut bytes = 0_u64;
    for value in args {
        bytes = bytes.saturating_add(meter.charge_text(value)?);
    }
    let separators = |position: usize| args.get(position).and_then(|value| value.as_str().map(str::len));
    let extra = match name {
        "join" => {
            let count = args.first().and_then(Value::len).unwrap_or_default() as u64;
            let separator = options(args).iter().filter_map(|value| value.as_str().map(str::len)).max();
            count.saturating_mul(separator.unwrap_or_default() as u64)
        }
        "sum" => {
            let named = args.last().and_then(|last| Kwargs::try_from(last.clone()).ok());
            let start =
                named.and_then(|named| named.peek::<Value>("start").ok()).or_else(|| args.get(2).cloned());
            // From a text, each step would copy what was joined before.
            if start.is_some_and(|start| start.as_str().is_some() || start.as_object().is_some()) {
                return Err(Error::new(ErrorKind::InvalidOperation, "`sum` starts from a number here"));
            }
            0
        }
        "replace" => match (args.first().and_then(Value::as_str), args.get(1).and_then(Value::as_str)) {
            (Some(text), Some(wanted)) => {
                let count = text.matches(wanted).count() as u64;
                count.saturating_mul(separators(2).unwrap_or_default() as u64)
            }
            // Other kinds are converted to text first; at worst every byte of it matches.
            _ => bytes.saturating_mul(separators(2).unwrap_or_default() as u64),
        },
        "tojson" => {
            if largest(args) > INDENT_MAX {
                return Err(too_many("tojson", INDENT_MAX));
            }
            bytes.saturating_mul(COMPARING_FACTOR)
        }
        "sort" | "dictsort" | "unique" | "groupby" | "min" | "max" => bytes.saturating_mul(COMPARING_FACTOR),
        _ => 0,
    };
    meter.charge(extra)
}

fn charge_slices(meter: &FilterMeter, name: &str, args: &[Value]) -> Result<(), Error> {
    let count = largest(args);
    let (most, times) = match name {
        "indent" => {
            let lines = args.first().and_then(Value::as_str).map_or(1, |text| text.lines().count());
            (INDENT_MAX, lines as u64)
        }
        _ => (SLICES_MAX, 1),
    };
    if count > most {
        return Err(too_many(name, most));
    }
    args.iter().try_for_each(|value| meter.charge_text(value).map(|_| ()))?;
    // Fillers repeat their value.
    let filler = args
        .iter()
        .skip(1)
        .try_fold(1, |sum: u64, value| Ok::<_, Error>(sum.saturating_add(meter.charge_text(value)?)))?;
    meter.charge(u64::try_from(count).unwrap_or_default().saturating_mul(times).saturating_mul(filler))
}

fn too_many(name: &str, most: i64) -> Error {
    Error::new(ErrorKind::InvalidOperation, format!("`{name}` takes a number up to {most} here"))
}
