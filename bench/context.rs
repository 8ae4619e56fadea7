//! A context of 1 MB into the VM and out of it, measured separately.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput};
use luaplan::base::Value;
use luaplan::sandbox::{PendingCalls, Step};
use mlua::Lua;

use crate::parts::{bare_lua, empty_object, vm};

const BATCH: BatchSize = BatchSize::NumIterations(4);

/// Pauses, takes a document, pauses.
const IN: &str = "function run(context) local document = noop() noop() return 1 end";
/// Takes a document, pauses, gives it back.
const OUT: &str = "function run(context) local document = noop() noop() noop(document) return 1 end";

/// A nested document whose JSON text has about 1 MB.
pub(crate) fn document() -> Value {
    let order = |id: i64| {
        let item = |number: i64| {
            Value::from_iter([
                ("sku", Value::from(format!("SKU-{id}-{number}"))),
                ("quantity", Value::Integer(number)),
                ("price", Value::Float(number as f64 + 0.25)),
                ("gift", Value::Bool(number % 2 == 0)),
            ])
        };
        Value::from_iter([
            ("id", Value::Integer(id)),
            ("customer", Value::from_iter([("name", format!("User {id}")), ("city", "Zürich".to_owned())])),
            ("note", Value::from("Please ring twice; nobody hears the first time.".to_owned())),
            ("discount", Value::Null),
            ("items", Value::Array((1..=6).map(item).collect())),
        ])
    };
    Value::from_iter([("orders", Value::Array((1..=2000).map(order).collect()))])
}

pub(crate) fn bench(criterion: &mut Criterion) {
    let value = document();
    let text = value.to_json_text();
    assert!((900_000..1_300_000).contains(&text.len()), "{}", text.len());
    let mut group = criterion.benchmark_group("context_1mb");
    group.sample_size(15).throughput(Throughput::Bytes(text.len() as u64));
    group.bench_function("text_to_value", |bencher| {
        bencher.iter_with_large_drop(|| Value::from_json_text(&text).unwrap());
    });
    group.bench_function("value_to_lua", |bencher| {
        bencher.iter_batched(
            || (paused(vm().start(IN, "plan.lua", &empty_object())), vec![Ok(value.clone())]),
            |(pending, outcomes)| pending.answer(outcomes),
            BATCH,
        );
    });
    group.bench_function("lua_to_value", |bencher| {
        bencher.iter_batched(
            || {
                let pending = paused(vm().start(OUT, "plan.lua", &empty_object()));
                paused(pending.answer(vec![Ok(value.clone())]))
            },
            |pending| pending.answer(vec![Ok(Value::Null)]),
            BATCH,
        );
    });
    group.bench_function("value_to_text", |bencher| {
        bencher.iter(|| black_box(value.to_json_text()));
    });
    group.bench_function("reference_serde_json_read", |bencher| {
        bencher.iter_with_large_drop(|| serde_json::from_str::<serde_json::Value>(&text).unwrap());
    });
    group.bench_function("reference_serde_json_write", |bencher| {
        let json = value.to_json();
        bencher.iter(|| black_box(json.to_string()));
    });
    group.bench_function("reference_bare_lua_in", |bencher| {
        bencher.iter_batched(
            bare_lua,
            |lua| {
                let table = to_lua(&lua, &value);
                (lua, table)
            },
            BATCH,
        );
    });
    group.bench_function("reference_bare_lua_out", |bencher| {
        bencher.iter_batched(
            || {
                let lua = bare_lua();
                let table = to_lua(&lua, &value);
                (lua, table)
            },
            |(lua, table)| (from_lua(&table), lua),
            BATCH,
        );
    });
    group.finish();
}

fn paused(step: Step) -> PendingCalls {
    match step {
        Step::Calls(pending) => pending,
        other => panic!("{other:?}"),
    }
}

/// The plainest conversion: no limit, no order of keys, no null, no cap.
pub(crate) fn to_lua(lua: &Lua, value: &Value) -> mlua::Value {
    match value {
        Value::Bool(value) => mlua::Value::Boolean(*value),
        Value::Integer(value) => mlua::Value::Integer(*value),
        Value::Float(value) => mlua::Value::Number(*value),
        Value::String(text) => mlua::Value::String(lua.create_string(text).unwrap()),
        Value::Array(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0).unwrap();
            for (place, item) in items.iter().enumerate() {
                table.raw_seti(place + 1, to_lua(lua, item)).unwrap();
            }
            mlua::Value::Table(table)
        }
        Value::Object(members) => {
            let table = lua.create_table_with_capacity(0, members.len()).unwrap();
            for (name, member) in members {
                table.raw_set(name.as_str(), to_lua(lua, member)).unwrap();
            }
            mlua::Value::Table(table)
        }
        _ => mlua::Value::Nil,
    }
}

pub(crate) fn from_lua(value: &mlua::Value) -> Value {
    match value {
        mlua::Value::Boolean(value) => Value::Bool(*value),
        mlua::Value::Integer(value) => Value::Integer(*value),
        mlua::Value::Number(value) => Value::Float(*value),
        mlua::Value::String(text) => Value::from(text.to_str().unwrap().to_owned()),
        mlua::Value::Table(table) if table.raw_len() > 0 => {
            let items = table.sequence_values::<mlua::Value>();
            Value::Array(items.map(|item| from_lua(&item.unwrap())).collect())
        }
        mlua::Value::Table(table) => {
            let members = table.pairs::<String, mlua::Value>();
            Value::from_iter(
                members.map(|member| member.unwrap()).map(|(name, member)| (name, from_lua(&member))),
            )
        }
        _ => Value::Null,
    }
}
