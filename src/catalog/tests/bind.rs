use serde_json::json;

use luaplan_base::{CallArguments, ErrorCode, ToolFailure, Value};

use super::*;

fn value(json: serde_json::Value) -> Value {
    Value::from_json(json).unwrap()
}

fn bind(tool: &str, arguments: serde_json::Value) -> Result<serde_json::Value, String> {
    let Value::Array(arguments) = value(arguments) else { panic!("arguments are written as a list") };
    match fixtures().get(tool).unwrap().bind(&CallArguments(arguments)) {
        Ok(bound) => Ok(bound.to_json()),
        Err(failure) => {
            assert_eq!(failure.code, ErrorCode::BadArguments.as_str());
            assert!(!failure.retryable);
            Err(failure.message)
        }
    }
}

#[test]
fn names_and_order_come_to_the_same() {
    let expected = json!({"to": "a@example.com", "subject": "s", "body": "b"});
    assert_eq!(bind("send_note", json!([expected])).unwrap(), expected);
    assert_eq!(bind("send_note", json!(["a@example.com", "s", "b"])).unwrap(), expected);
}

#[test]
fn one_table_is_names_where_every_key_is_a_parameter() {
    // The first parameter of find_rows takes a table itself.
    assert_eq!(bind("find_rows", json!([{"limit": 3}])).unwrap(), json!({"limit": 3}));
    assert_eq!(bind("find_rows", json!([{"age": 3}])).unwrap(), json!({"where": {"age": 3}}));
    assert_eq!(bind("find_rows", json!([{"where": {"limit": 1}}])).unwrap(), json!({"where": {"limit": 1}}));
    assert_eq!(
        bind("find_rows", json!([{"limit": 3}, 5])).unwrap(),
        json!({"where": {"limit": 3}, "limit": 5})
    );
}

#[test]
fn an_empty_table_alone_is_no_arguments_unless_the_first_parameter_takes_it() {
    for empty in [json!([[]]), json!([{}])] {
        assert_eq!(bind("list_days", empty.clone()).unwrap(), json!({}));
        assert_eq!(bind("find_rows", empty.clone()).unwrap(), json!({"where": {}}));
        assert_eq!(
            bind("desk.search", empty).unwrap_err(),
            "`desk.search` needs `query` (string), which is not given"
        );
    }
    assert_eq!(bind("list_days", json!([])).unwrap(), json!({}));
}

#[test]
fn null_for_what_may_be_left_out_is_not_given() {
    let bound = bind("send_note", json!(["x", "s", null, null, "html", null])).unwrap();
    assert_eq!(bound, json!({"to": "x", "subject": "s", "format": "html"}));
    let bound = bind("send_note", json!([{"to": "x", "subject": "s", "body": null}])).unwrap();
    assert_eq!(bound, json!({"to": "x", "subject": "s"}));
}

#[test]
fn an_empty_table_and_a_whole_float_take_the_kind_the_schema_wants() {
    let bound = bind("send_note", json!([{"to": "x", "subject": "s", "files": [], "copies": 2.0}])).unwrap();
    assert_eq!(bound, json!({"to": "x", "subject": "s", "files": {}, "copies": 2}));
}

#[test]
fn bytes_count_as_a_string() {
    let bytes = Value::from_lua_bytes(vec![0x89, 0x50, 0xff]);
    let files = Value::from_iter([("a.png", bytes.clone())]);
    let arguments = vec!["x".into(), "s".into(), bytes.clone(), files.clone()];
    let bound = fixtures().get("send_note").unwrap().bind(&CallArguments(arguments)).unwrap();
    assert_eq!(bound.get("body"), Some(&bytes));
    assert_eq!(bound.get("files"), Some(&files));
}

#[test]
fn refusals_name_the_parameter_what_came_and_what_is_expected() {
    let cases = [
        ("send_note", json!(["x"]), "`send_note` needs `subject` (string), which is not given"),
        (
            "send_note",
            json!([5, "s"]),
            "`send_note`: parameter `to` must be string|string[], but is the number 5",
        ),
        (
            "send_note",
            json!([["a", 5], "s"]),
            "`send_note`: parameter `to` must be string|string[], but is a list of 2",
        ),
        ("send_note", json!([[], "s"]), "`send_note`: parameter `to` must have at least 1 items"),
        (
            "send_note",
            json!(["x", "s", {"a": 1}]),
            "`send_note`: parameter `body` must be a string, but is a table",
        ),
        (
            "send_note",
            json!(["x", "s", "b", {"a.png": 7}]),
            "`send_note`: parameter `files.a.png` must be a string, but is the number 7",
        ),
        (
            "send_note",
            json!(["x", "s", "b", {}, "pdf"]),
            "`send_note`: parameter `format` must be one of \"html\", \"text\", but is a string of 3 characters",
        ),
        (
            "send_note",
            json!([{"to": "x", "subject": "s", "copies": 10}]),
            "`send_note`: parameter `copies` must be at most 9, but is the number 10",
        ),
        (
            "send_note",
            json!([{"to": "x", "subject": "s", "copies": 1.5}]),
            "`send_note`: parameter `copies` must be an integer, but is the number 1.5",
        ),
        (
            "send_note",
            json!([{"to": "x", "subjet": "s"}]),
            "`send_note` has no parameter `subjet`; did you mean `subject`?",
        ),
        (
            "send_note",
            json!([{"to": "x", "zzz": "s"}]),
            "`send_note` has no parameter `zzz`; it has `to`, `subject`, `body`, `files`, `format`, `copies`",
        ),
        ("list_days", json!([{"zzz": 1}]), "`list_days` has no parameters, so no `zzz`"),
        ("list_days", json!([1]), "`list_days` takes no arguments; 1 came"),
        ("find_rows", json!([{}, 1, 2]), "`find_rows` takes at most 2 arguments (`where`, `limit`); 3 came"),
        (
            "find_rows",
            json!([{"where": "x"}]),
            "`find_rows`: parameter `where` must be table<string, any>, but is a string of 1 character",
        ),
    ];
    for (tool, arguments, expected) in cases {
        assert_eq!(bind(tool, arguments.clone()).unwrap_err(), expected, "{tool} {arguments}");
    }
}

#[test]
fn the_refused_parameter_is_a_detail() {
    let failure = fixtures().get("send_note").unwrap().bind(&CallArguments(vec![5.into()])).unwrap_err();
    assert_eq!(failure.details.get("parameter"), Some(&Value::from("subject")));
}

#[test]
fn the_result_of_a_failed_call_cannot_be_passed_on() {
    let failed = Value::Failure(Box::new(ToolFailure::new(ErrorCode::ToolTimeout, "no answer in 10 s")));
    let files = Value::from_iter([("a.png", Value::from("x")), ("b.png", failed.clone())]);
    let spec = fixtures().get("send_note").unwrap().clone();
    for (arguments, place) in [
        (vec!["x".into(), failed], "argument 2 of `send_note`"),
        (vec!["x".into(), "s".into(), "b".into(), files], "argument 4[\"b.png\"] of `send_note`"),
    ] {
        let failure = spec.bind(&CallArguments(arguments)).unwrap_err();
        assert_eq!(failure.code, ErrorCode::ToolErrorUsed.as_str());
        assert!(failure.message.starts_with(place), "{}", failure.message);
        assert!(failure.message.contains("tool_timeout: no answer in 10 s"), "{}", failure.message);
    }
}

#[test]
fn text_that_came_is_not_repeated_in_the_refusal() {
    let message = bind("send_note", json!(["x", "s", "b", {}, "hunter2"])).unwrap_err();
    assert!(!message.contains("hunter2"), "{message}");
}
