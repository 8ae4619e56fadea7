use luaplan_base::{ErrorCode, Value};
use serde_json::json;

use crate::parameters::{given, parameters, with_defaults};

const PLAN: &str = "-- Reports a month.\n\n-- luaplan: param(month, \"2026-05\") the month, as YYYY-MM\n\
    -- luaplan: param(limits, {\"a\": [1, null, \")\"]})\n-- luaplan: param( recipient ) who gets it\n\
    function run(context)\n-- luaplan: param(late, 1)\nend\n";

fn context(json: serde_json::Value) -> Value {
    Value::from_json(json).unwrap()
}

#[test]
fn parameters_stand_before_the_first_statement() {
    let found = parameters(PLAN);
    let names: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.description.as_str())).collect();
    assert_eq!(names, [("month", "the month, as YYYY-MM"), ("limits", ""), ("recipient", "who gets it")]);
    let defaults: Vec<_> = found.iter().map(|one| one.default.as_ref().map(Value::to_json)).collect();
    assert_eq!(defaults, [Some(json!("2026-05")), Some(json!({"a": [1, null, ")"]})), None]);
    assert!(parameters("function run() end").is_empty());
}

#[test]
fn the_context_gets_what_it_does_not_have() {
    let full = with_defaults(PLAN, context(json!({"recipient": "a", "month": "2026-01", "x": 1}))).unwrap();
    let expected = json!({"recipient": "a", "month": "2026-01", "x": 1, "limits": {"a": [1, null, ")"]}});
    assert_eq!(full.to_json(), expected);
    let missing = with_defaults(PLAN, context(json!({}))).unwrap_err();
    assert_eq!(missing.code(), ErrorCode::BadRequest);
    assert_eq!(missing.message(), "the plan needs `recipient` (who gets it)");
    assert!(missing.help().contains("--param recipient=VALUE"));
    assert!(with_defaults(PLAN, context(json!([1]))).is_err());
    assert_eq!(with_defaults("function run() end", Value::Null).unwrap(), Value::Null);
}

#[test]
fn values_given_as_text_are_json_or_texts() {
    let read = |text| given(PLAN, text).map(|(name, value)| (name, value.to_json()));
    assert_eq!(read("month=2026").unwrap(), ("month".to_owned(), json!("2026")));
    assert_eq!(read("recipient=ops@example.com").unwrap().1, json!("ops@example.com"));
    assert_eq!(read("recipient=[1]").unwrap().1, json!([1]));
    assert_eq!(read("limits={\"a\": 2}").unwrap().1, json!({"a": 2}));
    for (text, part) in [("month", "no `=`"), ("mnth=1", "`mnth`"), ("late=1", "`late`")] {
        let error = given(PLAN, text).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Usage);
        assert!(error.message().contains(part), "{error}");
    }
    assert!(given(PLAN, "mnth=1").unwrap_err().help().contains("`month`"));
}
