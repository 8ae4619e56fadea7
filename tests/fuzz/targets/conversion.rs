//! A document goes into a plan and out again as it was.
#![no_main]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use luaplan::base::Value;
use luaplan::support::{assert_not_ours, run};

#[derive(Debug)]
struct Document(Value);

impl<'a> Arbitrary<'a> for Document {
    fn arbitrary(source: &mut Unstructured<'a>) -> Result<Self> {
        value(source, 0).map(Self)
    }
}

fn value(source: &mut Unstructured<'_>, depth: u32) -> Result<Value> {
    let kinds = if depth < 200 { 8 } else { 6 };
    Ok(match source.int_in_range(0..=kinds - 1)? {
        0 => Value::Null,
        1 => Value::Bool(source.arbitrary()?),
        2 => Value::Integer(source.arbitrary()?),
        3 => {
            let float: f64 = source.arbitrary()?;
            Value::Float(if float.is_finite() { float } else { -0.0 })
        }
        4 => Value::String(source.arbitrary()?),
        5 => Value::from_lua_bytes(source.arbitrary::<Vec<u8>>()?),
        6 => {
            let count = source.int_in_range(0..=5)?;
            Value::Array((0..count).map(|_| value(source, depth + 1)).collect::<Result<_>>()?)
        }
        _ => {
            let count = source.int_in_range(0..=5)?;
            let members = (0..count)
                .map(|_| Ok((source.arbitrary::<String>()?, value(source, depth + 1)?)))
                .collect::<Result<_>>()?;
            Value::Object(members)
        }
    })
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Float(left), Value::Float(right)) => left.to_bits() == right.to_bits(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| left.0 == right.0 && same(left.1, right.1))
        }
        _ => left == right,
    }
}

fuzz_target!(|document: Document| {
    let Document(document) = document;
    // Through the context, and through a call and its answer.
    for plan in ["function run(c) return c end", "function run(c) local x = echo(c) return x end"] {
        let stopped = run(plan, &document);
        assert_not_ours(&stopped);
        match stopped.result {
            Ok(result) => assert!(same(&result, &document), "{document:?} came back as {result:?}"),
            Err(error) => {
                let deep = depth(&document) > 100;
                assert!(deep || error.code().as_str().starts_with("limit_"), "{document:?}: {error}");
            }
        }
    }
    // The JSON forms carry it as well.
    let plain = Value::from_json(document.to_json()).expect("plain form");
    assert!(same(&plain, &document), "{document:?} reads back as {plain:?}");
    let exact = Value::from_exact_json(document.to_exact_json()).expect("exact form");
    assert!(same(&exact, &document), "{document:?} reads back as {exact:?}");
});
