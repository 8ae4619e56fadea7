//! Base: forms, bounds and refusals.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let leaf = prop_oneof![
        Just(serde_json::Value::Null),
        any::<bool>().prop_map(Into::into),
        any::<i64>().prop_map(Into::into),
        any::<f64>().prop_filter("JSON has no such number", |x| x.is_finite()).prop_map(Into::into),
        ".*".prop_map(serde_json::Value::String),
        Just(json!({"$bytes": "gIE="})),
        Just(json!({"$bytes": "AA=="})),
    ];
    leaf.prop_recursive(6, 64, 8, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..8).prop_map(serde_json::Value::Array),
            prop::collection::vec((".{0,8}", inner), 0..8)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_survives_the_plain_form(document in any_json()) {
        prop_assert_eq!(Value::from_json(document.clone()).unwrap().to_json(), document);
    }

    #[test]
    fn text_written_directly_is_that_of_the_document(document in any_json()) {
        let value = Value::from_json(document.clone()).unwrap();
        prop_assert_eq!(value.to_json_text(), document.to_string());
        for indent in [0, 2, 3] {
            let mut text = Vec::new();
            value.write_json_text(&mut text, indent).unwrap();
            let written: serde_json::Value = serde_json::from_slice(&text).unwrap();
            prop_assert_eq!(&written, &document);
            if indent == 2 {
                prop_assert_eq!(String::from_utf8(text).unwrap(), serde_json::to_string_pretty(&document).unwrap());
            }
        }
    }

    #[test]
    fn values_survive_the_exact_form(document in any_json(), message in ".*") {
        let failure = ToolFailure::new(ErrorCode::ToolFailed, message).retryable();
        let value = Value::from_iter([
            ("document", Value::from_json(document).unwrap()),
            ("failure", Value::Failure(Box::new(failure))),
        ]);
        prop_assert_eq!(Value::from_exact_json(value.to_exact_json()).unwrap(), value);
    }
}

#[test]
fn an_integer_beyond_64_signed_bits_is_refused_with_both_numbers() {
    let error = Value::from_json_text("18446744073709551615").unwrap_err();
    assert_eq!(error.code(), ErrorCode::ValueIntegerOutOfRange);
    for text in ["99999999999999999999", "[1, {\"a\\\"\": -9223372036854775809}]"] {
        let error = Value::from_json_text(text).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ValueIntegerOutOfRange, "{text}");
    }
    for text in
        ["1e20", "99999999999999999999.5", "\"99999999999999999999\"", "[\"\\\"99999999999999999999\", -0]"]
    {
        assert!(Value::from_json_text(text).is_ok(), "{text}");
    }
    assert_eq!(error.limit(), Some(&json!(i64::MAX)));
    assert_eq!(error.observed(), Some(&json!(u64::MAX)));
}

#[test]
fn bytes_have_one_form() {
    let value = Value::from_lua_bytes(vec![0x89, b'P', b'N', b'G']);
    assert_eq!(value.to_json(), json!({"$bytes": "iVBORw=="}));
    assert_eq!(Value::from_json(value.to_json()).unwrap(), value);
    assert_eq!(Value::from_lua_bytes(&b"plain"[..]), Value::from("plain"));
}

#[test]
fn limits_read_their_units_and_refuse_the_rest() {
    let mut limits = LimitProfile::Standard.limits();
    let cases = [
        (LimitName::Instructions, "1_000_000", 1_000_000),
        (LimitName::Memory, "64MiB", 64 * 1024 * 1024),
        (LimitName::Wall, "2s", 2_000),
        (LimitName::Output, "10 kB", 10_000),
        (LimitName::LlmCost, "0.50", 500_000),
    ];
    for (name, text, expected) in cases {
        limits.set(name, text).unwrap();
        assert_eq!(limits.get(name), expected, "{name} from {text}");
    }
    let refused = [
        (LimitName::Instructions, "many"),
        (LimitName::Instructions, "0"),
        (LimitName::Memory, "64 parsecs"),
        (LimitName::Memory, "99999999999GiB"),
        (LimitName::Wall, "-1s"),
        (LimitName::Wall, "soon"),
        (LimitName::LlmCost, "nan"),
    ];
    for (name, text) in refused {
        let error = limits.set(name, text).unwrap_err();
        assert_eq!(error.code(), ErrorCode::ConfigInvalid, "{name} from {text}");
    }
}

#[test]
fn rates_are_written_and_read_alike() {
    for text in ["10/s", "30/m", "500/h"] {
        assert_eq!(text.parse::<Rate>().unwrap().to_string(), text);
    }
    for text in ["0/s", "10", "10/d", "-1/s", "x/m", ""] {
        assert_eq!(text.parse::<Rate>().unwrap_err().code(), ErrorCode::ConfigInvalid, "{text}");
    }
}

#[test]
fn codes_are_unique_and_read_back() {
    for code in ErrorCode::ALL {
        assert_eq!(code.as_str().parse(), Ok(*code), "{code} is spelled twice");
    }
}

#[test]
fn a_slip_of_the_pen_finds_its_name_and_a_stranger_none() {
    let known = ["query_db", "fetch_url", "send_email", "github.search", "e"];
    let cases = [
        ("querydb", Some("query_db")),
        ("qurey_db", Some("query_db")),
        ("FETCH_URL", Some("fetch_url")),
        ("email", Some("send_email")),
        ("github.serach", Some("github.search")),
        ("teleport", None),
        ("x", None),
        ("", None),
    ];
    for (unknown, expected) in cases {
        assert_eq!(nearest(unknown, known), expected, "{unknown}");
    }
}

#[test]
fn fixed_points_keep_sign_and_zeros() {
    let cases =
        [(0, 2, "0.00"), (5, 2, "0.05"), (-5, 2, "-0.05"), (-1_050, 3, "-1.050"), (12_345, 2, "123.45")];
    for (number, places, text) in cases {
        assert_eq!(fixed_point(number, places), text);
    }
    assert_eq!(fixed_point(i64::MIN.into(), 2), "-92233720368547758.08");
}

#[test]
fn an_error_keeps_its_own_facts_beside_those_of_another() {
    let other = Error::new(ErrorCode::Internal, "other").with_limit(1, 2).with_detail("line", 3);
    let other = other.with_detail("call", "4");
    let own = Error::new(ErrorCode::PlanError, "own").with_detail("line", 7).with_facts_of(&other);
    let expected = json!({"code": "plan_error", "message": "own", "help": own.help(),
        "limit": 1, "observed": 2, "line": 7, "call": "4"});
    assert_eq!(own.to_json(), expected);
}
