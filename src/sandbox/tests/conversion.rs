//! JSON into a plan and back is the identity; what cannot be carried is refused by name.

use proptest::prelude::*;

use luaplan_base::{ErrorCode, Value};

use super::harness::{failure, limits, result, run, run_with};

const IDENTITY: &str = "function run(context) return context end";

fn back(json: &str) -> String {
    let value = Value::from_json_text(json).unwrap();
    run_with(IDENTITY, &value, limits()).result.unwrap().to_json().to_string()
}

#[test]
fn corner_documents_come_back_unchanged() {
    for json in [
        "null",
        "true",
        "0",
        "-0.0",
        "1",
        "1.0",
        "9223372036854775807",
        "-9223372036854775808",
        "1e300",
        "\"\"",
        "\"a\\u0000b\\ud83d\\ude00\"",
        "[]",
        "{}",
        "[null]",
        "[null,null,1,null]",
        "{\"a\":null}",
        "{\"z\":1,\"a\":2,\"m\":{\"y\":null,\"b\":[]}}",
        "[[],{},[[]],[{}]]",
        "{\"1\":1,\"2\":2}",
        "{\"\":0}",
        "{\"__index\":1,\"__gc\":2,\"__metatable\":3}",
        "{\"error\":\"x\",\"code\":\"y\"}",
        "[{\"a\":1,\"b\":null},{\"a\":null,\"b\":2},{\"b\":1,\"a\":2}]",
    ] {
        let expected = Value::from_json_text(json).unwrap().to_json().to_string();
        assert_eq!(back(json), expected);
    }
}

#[test]
fn a_document_nested_as_deep_as_json_allows_comes_back() {
    let json = format!("{}1{}", "[".repeat(127), "]".repeat(127));
    assert_eq!(back(&json), json);
}

#[test]
fn bytes_come_back_as_bytes_and_text_as_text() {
    assert_eq!(back(r#"{"$bytes":"//4="}"#), r#"{"$bytes":"//4="}"#);
    assert_eq!(result(r"return { '\255', 'é' }"), r#"[{"$bytes":"/w=="},"é"]"#);
}

#[test]
fn null_members_read_as_nil_and_go_back_as_null_unless_assigned() {
    let context = Value::from_json_text(r#"{"a":null,"b":null,"c":1,"list":[null,2]}"#).unwrap();
    let plan = "function run(context) assert(context.a == nil) assert(context.list[1] == null) \
                context.b = 5 context.c = nil context.d = null return context end";
    let got = run_with(plan, &context, limits()).result.unwrap().to_json().to_string();
    assert_eq!(got, r#"{"a":null,"b":5,"list":[null,2],"d":null}"#);
}

#[test]
fn known_keys_keep_their_order_and_new_ones_follow_sorted() {
    let context = Value::from_json_text(r#"{"z":1,"a":2}"#).unwrap();
    let plan = "function run(context) context.m, context.b = 3, 4 \
                local seen = {} for key in pairs(context) do seen[#seen + 1] = key end \
                context.seen = table.concat(seen, ' ') return context end";
    let got = run_with(plan, &context, limits()).result.unwrap().to_json().to_string();
    assert_eq!(got, r#"{"z":1,"a":2,"b":4,"m":3,"seen":"z a b m"}"#);
}

#[test]
fn an_emptied_list_stays_a_list_and_an_emptied_object_an_object() {
    let context = Value::from_json_text(r#"{"list":[1],"object":{"a":1}}"#).unwrap();
    let plan = "function run(context) table.remove(context.list) context.object.a = nil return context end";
    let got = run_with(plan, &context, limits()).result.unwrap().to_json().to_string();
    assert_eq!(got, r#"{"list":[],"object":{}}"#);
}

#[test]
fn rows_with_the_same_keys_cost_no_metatable_each() {
    let row = r#"{"id":1,"name":"n","age":null}"#;
    let size = |rows: usize| {
        let json = format!("[{}]", vec![row; rows].join(","));
        let context = Value::from_json_text(&json).unwrap();
        run_with("function run(c) return 1 end", &context, limits()).usage.memory_peak_bytes
    };
    let each = (size(2_000) - size(1_000)) / 1_000;
    assert!(each < 300, "{each} bytes a row");
}

#[test]
fn what_has_no_json_form_is_refused_with_its_path() {
    for (body, code, path) in [
        ("return { users = { 1, { x = print } } }", ErrorCode::ValueNotCarried, "`result.users[2].x`"),
        ("return { 1, coroutine.create(print) }", ErrorCode::ValueNotCarried, "`result[2]`"),
        ("return { a = 0/0 }", ErrorCode::ValueNotFinite, "`result.a`"),
        ("return -math.huge", ErrorCode::ValueNotFinite, "`result`"),
        ("local t = {} t.t = { t } return t", ErrorCode::ValueCyclic, "`result.t[1]`"),
        ("return { 1, 2, x = 3 }", ErrorCode::ValueKeyUnsupported, "`x`"),
        ("return { [1] = 1, [3] = 3 }", ErrorCode::ValueKeyUnsupported, "holes"),
        ("return { [1.5] = 1 }", ErrorCode::ValueKeyUnsupported, "number"),
        ("return { [true] = 1 }", ErrorCode::ValueKeyUnsupported, "boolean"),
        ("return { ['\\255'] = 1 }", ErrorCode::ValueKeyUnsupported, "UTF-8"),
        ("echo({ f = print })", ErrorCode::ValueNotCarried, "`echo.f`"),
        ("echo(1, print)", ErrorCode::ValueNotCarried, "`echo argument 2`"),
        ("local t = {} for i = 1, 200 do t = { t } end return t", ErrorCode::ValueTooDeep, "nested"),
        ("local t = {} for i = 1, 30 do t = { t, t } end return t", ErrorCode::LimitMemory, "memory"),
        (
            "local s = string.rep('x', 1000000) local t = {} for i = 1, 100 do t[i] = s end return t",
            ErrorCode::LimitMemory,
            "memory",
        ),
    ] {
        let (got, message) = failure(body);
        assert_eq!(got, code, "{body}: {message}");
        assert!(message.contains(path), "{body}: {message}");
    }
}

#[test]
fn conversion_runs_no_metamethod_of_the_plan() {
    let text = result(
        "local t = setmetatable({ a = 1 }, { __index = error, __pairs = error, __len = error, __tostring = error }) \
         return { t, echo(t) }",
    );
    assert_eq!(text, r#"[{"a":1},{"a":1}]"#);
}

#[test]
fn a_refused_argument_can_be_caught_and_makes_no_call() {
    let stopped = run("function run() local ok, why = pcall(echo, print) return { ok, why } end");
    assert_eq!(
        stopped.result.unwrap().to_json().to_string(),
        r#"[false,"plan.lua:1: `echo` is a function, which has no JSON form"]"#
    );
}

#[test]
fn whole_floats_stay_floats_and_integers_integers() {
    assert_eq!(
        result("return { 1, 1.0, 2^53, 10 // 2, 10 / 2, 0x7fffffffffffffff }"),
        "[1,1.0,9007199254740992.0,5,5.0,9223372036854775807]"
    );
    assert_eq!(result("return { [1.0] = 'a', [2] = 'b' }"), r#"["a","b"]"#);
}

fn document() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Integer),
        any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::Float),
        ".{0,12}".prop_map(Value::String),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((".{0,4}", inner), 0..6).prop_map(|members| members.into_iter().collect()),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn every_document_comes_back_unchanged_with_its_key_order(value in document()) {
        let got = run_with(IDENTITY, &value, limits()).result.unwrap();
        prop_assert_eq!(crate::vm::json_size::json_bytes(&value), value.to_json().to_string().len() as u64);
        prop_assert_eq!(format!("{:?}", got), format!("{:?}", value));
    }

    #[test]
    fn every_document_goes_through_a_call_unchanged(value in document()) {
        let wrapped: Value = [("value".to_owned(), value)].into_iter().collect();
        let plan = "function run(context) return { echo(context), n = nil } end";
        let got = run_with(plan, &wrapped, limits()).result.unwrap();
        prop_assert_eq!(format!("{:?}", got), format!("{:?}", Value::Array(vec![wrapped])));
    }
}
