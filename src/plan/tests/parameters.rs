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
    assert!(missing.help().contains("`context`"));
    assert_eq!(missing.details()["missing"], json!(["recipient"]));
    let both =
        with_defaults("-- luaplan: param(a)\n-- luaplan: param(b) it\n", context(json!({}))).unwrap_err();
    assert_eq!(both.message(), "the plan needs `a` and `b` (it)");
    assert_eq!(both.details()["missing"], json!(["a", "b"]));
    assert!(with_defaults(PLAN, context(json!([1]))).is_err());
    assert_eq!(with_defaults("function run() end", Value::Null).unwrap(), Value::Null);
}

#[test]
fn values_given_as_text_are_json_or_texts() {
    let file = |name: &str| Ok(format!("of {name}"));
    let read = |text| given(PLAN, text, file).map(|(name, value)| (name, value.to_json()));
    assert_eq!(read("month=2026").unwrap(), ("month".to_owned(), json!("2026")));
    assert_eq!(read("recipient=ops@example.com").unwrap().1, json!("ops@example.com"));
    assert_eq!(read("recipient=[1]").unwrap().1, json!([1]));
    assert_eq!(read("limits={\"a\": 2}").unwrap().1, json!({"a": 2}));
    assert_eq!(read("recipient=@o.csv").unwrap().1, json!("of o.csv"));
    assert_eq!(read("recipient=@@all").unwrap().1, json!("@all"));
    assert_eq!(read("month= x ").unwrap().1, json!(" x "));
    let refused = [
        ("month", "no `=`"),
        ("mnth=1", "`mnth`"),
        ("late=1", "`late`"),
        ("month =1", "`month `"),
        ("limits=abc", "an object, as its default is one, and got a text"),
    ];
    for (text, part) in refused {
        let error = given(PLAN, text, file).unwrap_err();
        assert_eq!(error.code(), ErrorCode::Usage);
        assert!(error.message().contains(part), "{error}");
    }
    assert!(given(PLAN, "mnth=1", file).unwrap_err().help().contains("`month`"));
    let unquoted = "-- luaplan: param(month, 2026-11)\n-- luaplan: param(a, 1)\n-- luaplan: param(a, 2)\n";
    let help = given(unquoted, "b=1", file).unwrap_err().help().to_owned();
    assert!(help.contains("put quotes around a text, `\"2026-11\"`"), "{help}");
    assert_eq!(parameters(unquoted).len(), 1);
}
