use proptest::prelude::*;
use serde_json::{Value as Json, json};

use luaplan_catalog::{Catalog, ToolSpec, builtin_manifests, read_manifest};

use super::{answer, pattern, sql};

fn builtins() -> Catalog {
    Catalog::from_iter(builtin_manifests().unwrap())
}

fn tool(result: Json) -> ToolSpec {
    let manifest = r#"
        name = "made_up"
        description = "A tool."
        kind = "http"
        effect = "read"
        idempotent = true
        rate = "60/m"
        burst = 1
        concurrency = 1
        timeout = "1s"
        capability = "test"
        params = { type = "object" }
        result = {}
    "#;
    let mut spec = read_manifest(manifest, "made_up.toml").unwrap();
    spec.result = result;
    spec
}

fn builtin(tool: &str, arguments: &Json, seed: u64) -> Json {
    answer(builtins().get(tool).unwrap(), arguments, seed).unwrap()
}

/// Schemas as manifests have them, of some depth.
fn schemas() -> impl Strategy<Value = Json> {
    let text = (0..4_usize, 0..9_usize)
        .prop_map(|(least, more)| json!({"type": "string", "minLength": least, "maxLength": least + more}));
    let formats = prop::sample::select(vec!["date", "date-time", "email", "uri", "uuid", "ipv4", "hostname"]);
    let patterns = prop::sample::select(vec![
        "^[A-Z]{2}-\\d{3,5}$",
        "^(a|bc)+$",
        "x+y*z?",
        "^\\w+@\\w+\\.com$",
        "^[^a-c]{2}$",
    ]);
    let leaf = prop_oneof![
        Just(json!({"type": "boolean"})),
        Just(json!({"type": "null"})),
        Just(json!({})),
        Just(json!({"const": {"kind": "é"}})),
        Just(json!({"enum": ["a", 2, null]})),
        (-50..50_i64, 0..50_i64)
            .prop_map(|(low, more)| json!({"type": "integer", "minimum": low, "maximum": low + more})),
        (1..9_i64).prop_map(|step| json!({"type": "integer", "multipleOf": step, "exclusiveMinimum": -3})),
        (-5.0..5.0_f64)
            .prop_map(|low| json!({"type": "number", "exclusiveMinimum": low, "maximum": low + 0.001})),
        text,
        formats.prop_map(|format| json!({"type": "string", "format": format})),
        patterns.prop_map(|pattern| json!({"type": "string", "pattern": pattern})),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let members = prop::collection::vec((inner.clone(), any::<bool>()), 0..4);
        prop_oneof![
            (inner.clone(), 0..3_usize, 0..3_usize).prop_map(|(items, least, more)| {
                json!({"type": "array", "items": items, "minItems": least, "maxItems": least + more})
            }),
            (members, any::<bool>()).prop_map(|(members, is_closed)| {
                let required: Vec<String> = members
                    .iter()
                    .enumerate()
                    .filter(|(_, (_, is_required))| *is_required)
                    .map(|(place, _)| format!("m{place}"))
                    .collect();
                let properties: serde_json::Map<String, Json> = members
                    .into_iter()
                    .enumerate()
                    .map(|(place, (schema, _))| (format!("m{place}"), schema))
                    .collect();
                json!({
                    "type": "object",
                    "properties": properties,
                    "required": required,
                    "additionalProperties": !is_closed,
                })
            }),
            inner.clone().prop_map(
                |schema| json!({"type": "object", "additionalProperties": schema, "minProperties": 2})
            ),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|choices| json!({"anyOf": choices})),
            inner.clone().prop_map(|schema| json!({"allOf": [schema, {"description": "more"}]})),
            inner.prop_map(|schema| json!({"$defs": {"one": schema}, "type": ["array", "null"]})),
        ]
    })
}

proptest! {
    #[test]
    fn an_answer_fits_a_made_up_schema(schema in schemas(), seed in any::<u64>()) {
        let spec = tool(schema.clone());
        let value = answer(&spec, &json!({"n": 1}), seed);
        prop_assert!(value.is_some(), "nothing fits {}", schema);
        // `answer` validates too; this validator is independent of it.
        let validator = jsonschema::validator_for(&schema).unwrap();
        prop_assert!(validator.is_valid(&value.clone().unwrap()), "{:?} does not fit {}", value, schema);
    }

    #[test]
    fn an_answer_fits_every_built_in_manifest(seed in any::<u64>(), n in 0..1000_u32) {
        for spec in builtin_manifests().unwrap() {
            let value = answer(&spec, &json!({"n": n}), seed).unwrap();
            let validator = jsonschema::validator_for(&spec.result).unwrap();
            prop_assert!(validator.is_valid(&value), "{}: {}", spec.name, value);
        }
    }
}

#[test]
fn the_schema_alone_is_enough_for_the_built_in_tools() {
    for mut spec in builtin_manifests().unwrap() {
        spec.kind = luaplan_catalog::ToolKind::Http;
        for seed in 0..50 {
            assert!(answer(&spec, &json!({}), seed).is_some(), "{}", spec.name);
        }
    }
}

#[test]
fn the_same_seed_and_call_get_the_same_answer_and_others_another() {
    let one = json!({"table": "users", "columns": ["name", "city"]});
    let turned = json!({"columns": ["name", "city"], "table": "users"});
    let other = json!({"table": "orders", "columns": ["name", "city"]});
    assert_eq!(builtin("query_db", &one, 7), builtin("query_db", &turned, 7));
    let differ = |left: &dyn Fn(u64) -> Json, right: &dyn Fn(u64) -> Json| {
        (0..20).filter(|seed| left(*seed) != right(*seed)).count()
    };
    assert!(differ(&|seed| builtin("query_db", &one, seed), &|seed| builtin("query_db", &other, seed)) > 15);
    assert!(
        differ(&|seed| builtin("query_db", &one, seed), &|seed| builtin("query_db", &one, seed + 1)) > 15
    );
}

#[test]
fn rows_vary_and_are_sometimes_none() {
    let counts: std::collections::BTreeSet<usize> = (0..100)
        .map(|seed| builtin("query_db", &json!({"table": "users"}), seed).as_array().unwrap().len())
        .collect();
    assert!(counts.contains(&0) && counts.len() >= 5, "{counts:?}");
    let all: String =
        (0..100).map(|seed| builtin("query_db", &json!({"table": "users"}), seed).to_string()).collect();
    assert!(!all.is_ascii() && all.contains("null"));
}

#[test]
fn rows_have_the_columns_the_conditions_and_the_number_asked_for() {
    let statement = "SELECT u.city, count(*) AS n, max(age) oldest FROM users u WHERE u.city = ? AND age > 30 GROUP BY city LIMIT 2";
    for seed in 0..50 {
        let rows = builtin("query_db", &json!({"sql": statement, "params": ["Oslo"]}), seed);
        let rows = rows.as_array().unwrap();
        assert!(rows.len() <= 2);
        for row in rows {
            let names: Vec<&String> = row.as_object().unwrap().keys().collect();
            assert_eq!(names, ["city", "n", "max(age) oldest"]);
            assert_eq!(row["city"], "Oslo");
            assert!(row["n"].is_i64() || row["n"].is_null());
        }
        let totals = builtin("query_db", &json!({"sql": "select count(*) as n from t"}), seed);
        assert_eq!(totals.as_array().unwrap().len(), 1);
        let older = builtin("query_db", &json!({"table": "users", "where": "age > ?", "params": [30]}), seed);
        assert!(older.as_array().unwrap().iter().all(|row| row["age"].as_i64().unwrap() > 30));
        let any = builtin("query_db", &json!({"table": "t", "where": {"city": ["Lima", "Bern"]}}), seed);
        assert!(any.as_array().unwrap().iter().all(|row| row["city"] == "Lima" || row["city"] == "Bern"));
    }
    assert!(builtin("query_db", &json!({"sql": "DELETE FROM t"}), 1)["rows_affected"].is_i64());
}

#[test]
fn a_statement_is_read_outside_of_brackets_and_quotes() {
    let read = |text: &str| sql::Query::read(&json!({"sql": text}));
    assert_eq!(read("select (select a from b) as x, 'one, from two' y from c").columns, ["x", "y"]);
    assert_eq!(read("with t as (select q from r) select a.b from t").columns, ["b"]);
    assert!(read("select * from t").columns.is_empty());
    let conditions =
        read("select a from t where b = 'it''s' and c between 1 and 2 and d >= 3 order by a").conditions;
    let seen: Vec<String> =
        conditions.iter().map(|c| format!("{} {} {}", c.column, c.operator, c.value)).collect();
    assert_eq!(seen, ["b = \"it's\"", "d >= 3"]);
}

#[test]
fn a_mail_names_who_was_written_to() {
    let sent =
        builtin("send_email", &json!({"to": "A <a@example.com>, b@example.com", "cc": ["c@example.com"]}), 3);
    assert_eq!(sent["recipients"], json!(["a@example.com", "b@example.com", "c@example.com"]));
    assert_eq!(sent["delivered"], true);
}

#[test]
fn what_is_fetched_and_said_has_the_form_asked_for() {
    for seed in 0..40 {
        let urls = json!(["https://a.example/x.json", "https://b.example"]);
        let pages = builtin("fetch_url", &json!({"urls": urls, "detail": true}), seed);
        let body = pages["https://a.example/x.json"]["body"].as_str().unwrap();
        assert!(body.is_empty() || serde_json::from_str::<Json>(body).is_ok(), "{body}");
        assert_eq!(pages["https://b.example"]["status"], 200);
        let said = builtin("call_llm", &json!({"prompt": "?", "format": "json"}), seed);
        assert!(serde_json::from_str::<Json>(said.as_str().unwrap()).is_ok());
    }
}

#[test]
fn a_schema_that_refers_to_itself_comes_to_an_end() {
    let tree = json!({
        "$ref": "#/$defs/node",
        "$defs": {"node": {
            "type": "object",
            "required": ["name", "children"],
            "properties": {
                "name": {"type": "string"},
                "children": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            },
        }},
    });
    let spec = tool(tree);
    assert!((0..100).all(|seed| answer(&spec, &json!({}), seed).is_some()));
    let endless = json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/a"}}}}});
    assert_eq!(answer(&tool(endless), &json!({}), 1), None);
    assert_eq!(answer(&tool(json!({"$ref": "#"})), &json!({}), 1), None);
}

#[test]
fn a_pattern_is_matched_or_given_up() {
    let mut draw = super::Draw::new(1, "t", &json!({}), 0);
    for _ in 0..20 {
        let text = pattern::matching("^[a-f0-9]{8}(-[A-Z]+)?$", &mut draw).unwrap();
        assert!(text.len() >= 8 && text.is_ascii(), "{text}");
    }
    assert_eq!(pattern::matching("^(?!x)y$", &mut draw), None);
}
