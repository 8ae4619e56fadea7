//! `json` and `csv` against the crates that define what is right here.

use proptest::prelude::*;
use serde_json::{Value as Json, json};

use luaplan_base::Value;

use super::vm::result_of;

fn document() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        prop::num::f64::NORMAL.prop_map(Json::from),
        "\\PC{0,12}".prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::from),
            prop::collection::vec(("\\PC{0,6}", inner), 0..6)
                .prop_map(|members| Json::Object(members.into_iter().collect())),
        ]
    })
}

fn text_of(body: &str, input: &str) -> String {
    match result_of(body, Value::from(input)) {
        Ok(Value::String(text)) => text,
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn a_json_document_survives_decode_and_encode(document in document()) {
        prop_assume!(!document.is_null());
        let text = document.to_string();
        let back = text_of("return json.encode(json.decode(context.input))", &text);
        prop_assert_eq!(&back, &text);
        let pretty = text_of("return json.encode(json.decode(context.input), {indent = 2, sort = true})", &text);
        prop_assert_eq!(serde_json::from_str::<Json>(&pretty).unwrap(), document);
    }

    #[test]
    fn decode_refuses_what_serde_json_refuses(text in "[\\[\\]{}:,\"0-9a-z\\\\ .eE+-]{0,24}") {
        let ours = result_of("json.decode(context.input) return true", Value::from(text.as_str())).is_ok();
        prop_assert_eq!(ours, serde_json::from_str::<Json>(&text).is_ok());
    }

    #[test]
    fn csv_rows_survive_encode_and_parse(
        rows in prop::collection::vec(prop::collection::vec("[ -~\\n\"é,;]{0,8}", 3), 1..6),
    ) {
        // A row of nothing but empty cells is a line of separators, not a blank line: it stays.
        let text = json!(rows).to_string();
        let source = "local rows = json.decode(context.input)
            local text = csv.encode(rows, {header = false})
            return json.encode(csv.parse(text, {header = false}))";
        prop_assert_eq!(text_of(source, &text), text);
    }

    #[test]
    fn csv_writes_what_the_csv_crate_reads(
        rows in prop::collection::vec(prop::collection::vec("[ -~\\n\"é,;]{0,8}", 3), 1..6),
    ) {
        let source = "return csv.encode(json.decode(context.input), {header = false, newline = '\\r\\n'})";
        let text = text_of(source, &json!(rows).to_string());
        let read: Vec<Vec<String>> = csv::ReaderBuilder::new()
            .has_headers(false)
            .from_reader(text.as_bytes())
            .into_deserialize()
            .map(Result::unwrap)
            .collect();
        prop_assert_eq!(read, rows);
    }
}
