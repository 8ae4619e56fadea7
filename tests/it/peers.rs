//! The works of the speed comparison give the answers its runner expects, or the figures would
//! compare different things.

use std::path::PathBuf;

use luaplan::base::{CallOutcome, LimitProfile, Limits, Value};
use luaplan::sandbox::{Interrupt, Step, Vm, VmLimits, VmOptions};
use serde_json::{Value as Json, json};

const WORKS: [&str; 6] = ["w4_fib", "w4_loop", "w4_sort_numbers", "w4_sort_strings", "w4_concat", "w4_join"];

fn work(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("bench/peers/work").join(name);
    std::fs::read_to_string(path).unwrap()
}

fn answers() -> Json {
    serde_json::from_str(&work("answers.json")).unwrap()
}

/// What the tools of the comparison answer.
fn answer(tool: &str) -> CallOutcome {
    let row = |id: i64| {
        json!({
            "id": id, "name": format!("User {id}"), "email": format!("user{id}@example.com"),
            "age": 20 + id % 50, "url": format!("https://example.com/users/{id}.html"),
        })
    };
    let value = match tool {
        "query_db" => (1..=100).map(row).collect(),
        "fetch_url" => json!("The text of a page. ".repeat(50)),
        "send_email" => json!({ "id": "receipt-1", "status": "accepted" }),
        _ => json!({ "n": 1 }),
    };
    Ok(Value::from_json(value).unwrap())
}

/// Runs a work; gives its result and the tools it called.
fn run(name: &str, context: &Json) -> (Json, Vec<String>) {
    let profile = LimitProfile::Generous.limits();
    let limits = Limits { instructions: u64::MAX / 2, tool_calls: u64::MAX / 2, ..profile };
    let options = VmOptions {
        limits: VmLimits::from(&limits),
        tools: ["query_db", "fetch_url", "send_email", "noop"].map(str::to_owned).to_vec(),
        interrupt: Interrupt::default(),
        slice_instructions: u64::MAX,
    };
    let context = Value::from_json(context.clone()).unwrap();
    let mut called = Vec::new();
    let mut step = Vm::new(options).unwrap().start(&work(&format!("{name}.lua")), "plan.lua", &context);
    loop {
        step = match step {
            Step::Calls(pending) => {
                called.extend(pending.calls.iter().map(|call| call.tool.clone()));
                let outcomes = pending.calls.iter().map(|call| answer(&call.tool)).collect();
                pending.answer(outcomes)
            }
            Step::Done(stopped) => return (stopped.result.unwrap().to_json(), called),
            other => panic!("{name}: {other:?}"),
        }
    }
}

#[test]
fn the_trivial_work_answers() {
    assert_eq!(run("w1", &json!({})).0, answers()["w1"]);
}

#[test]
fn the_everyday_work_calls_twelve_tools() {
    let (result, called) = run("w2", &json!({}));
    assert_eq!(result, answers()["w2"]);
    let expected = [vec!["query_db"], vec!["fetch_url"; 10], vec!["send_email"]].concat();
    assert_eq!(called, expected);
}

#[test]
fn the_calling_work_calls_as_often_as_told() {
    let (result, called) = run("w3", &json!({ "calls": 100 }));
    assert_eq!(result, json!(100));
    assert_eq!(called.len(), 100);
}

#[test]
fn the_computing_works_answer() {
    let answers = answers();
    for name in WORKS {
        assert_eq!(run(name, &json!({})).0, answers[name], "{name}");
    }
}

#[test]
fn the_document_comes_back_as_it_went_in() {
    let items = |quantities: [i64; 6]| json!(quantities.map(|quantity| json!({ "quantity": quantity })));
    let order = |id: i64| json!({ "id": id, "discount": null, "items": items([1, 2, 3, 4, 5, 6]) });
    let document = json!({ "orders": (1..=2000).map(order).collect::<Vec<_>>() });
    assert_eq!(run("w5", &document).0, document);
}

#[test]
fn each_peer_has_a_program_for_each_work() {
    let here = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("bench/peers/work");
    for extension in ["lua", "py", "js"] {
        for name in WORKS.iter().chain(&["w2", "w3", "w5", "w7"]) {
            let program = here.join(format!("{name}.{extension}"));
            assert!(program.is_file(), "{} is missing", program.display());
        }
    }
}
