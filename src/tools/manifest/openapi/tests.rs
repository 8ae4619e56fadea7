//! Schemas, names and addresses; whole documents are in `tests/it`.

use serde_json::{Value as Json, json};

use super::ImportOptions;
use super::document::Document;
use super::parameters::ToolParameters;
use super::schema::{Converter, Direction};
use super::server;

/// A document of a version with these schemas.
fn document(version: &str, schemas: &Json) -> Document {
    let text = json!({ "openapi": version, "info": { "title": "T", "version": "1" }, "paths": { "/": {} },
        "components": { "schemas": schemas } });
    Document::read(&text.to_string(), "test", None).unwrap()
}

fn converted(version: &str, schema: &Json) -> Result<Json, String> {
    Converter::new(&document(version, &json!({})), Direction::Received).convert(schema)
}

#[test]
fn schemas_of_3_0_become_json_schema() {
    for (schema, expected) in [
        (json!({ "type": "string", "nullable": true }), json!({ "type": ["string", "null"] })),
        (
            json!({ "nullable": true, "enum": ["a"] }),
            json!({ "anyOf": [{ "enum": ["a"] }, { "type": "null" }] }),
        ),
        (
            json!({ "type": "integer", "minimum": 1, "exclusiveMinimum": true }),
            json!({ "type": "integer", "exclusiveMinimum": 1 }),
        ),
        (
            json!({ "type": "integer", "maximum": 9, "exclusiveMaximum": false }),
            json!({ "type": "integer", "maximum": 9 }),
        ),
        (
            json!({ "type": "object", "additionalProperties": false }),
            json!({ "type": "object", "additionalProperties": false }),
        ),
        (
            json!({ "type": "string", "example": "x", "x-kind": 1, "title": "T", "default": null }),
            json!({ "type": "string" }),
        ),
    ] {
        assert_eq!(converted("3.0.3", &schema).unwrap(), expected, "{schema}");
    }
}

#[test]
fn schemas_of_3_1_hold_nothing_that_toml_cannot() {
    for (schema, expected) in [
        (json!({ "enum": ["a", null] }), json!({ "anyOf": [{ "enum": ["a"] }, { "type": "null" }] })),
        (json!({ "const": null }), json!({ "type": "null" })),
        (
            json!({ "enum": [1, null], "anyOf": [{ "minimum": 1 }] }),
            json!({ "allOf": [{ "anyOf": [{ "minimum": 1 }] }, { "anyOf": [{ "enum": [1] }, { "type": "null" }] }] }),
        ),
        (json!({ "maximum": u64::MAX }), json!({ "maximum": 18_446_744_073_709_551_615.0 })),
    ] {
        let found = converted("3.1.0", &schema).unwrap();
        assert_eq!(found, expected, "{schema}");
        toml::to_string(&found).unwrap();
    }
    for refused in [
        json!({ "const": { "a": null } }),
        json!({ "$dynamicRef": "#x" }),
        json!({ "items": 7 }),
        json!({ "$ref": "#/no" }),
    ] {
        assert!(converted("3.1.0", &refused).is_err(), "{refused}");
    }
}

#[test]
fn references_are_put_in_within_bounds() {
    let schemas = json!({
        "A": { "type": "string", "description": "plain" },
        "List": { "type": "object", "properties": { "next": { "$ref": "#/components/schemas/List" } } },
        "W0": { "type": "string" },
    });
    let of = |schema: Json, version: &str| {
        let document = document(version, &schemas);
        let mut converter = Converter::new(&document, Direction::Sent);
        converter.convert(&schema).map(|schema| (schema, converter.notes))
    };
    let said = json!({ "$ref": "#/components/schemas/A", "description": "here", "minLength": 2 });
    let (newer, _) = of(said.clone(), "3.1.0").unwrap();
    assert_eq!(newer, json!({ "allOf": [{ "type": "string", "description": "here" }, { "minLength": 2 }] }));
    let (older, _) = of(said, "3.0.0").unwrap();
    assert_eq!(
        older,
        json!({ "type": "string", "description": "plain" }),
        "beside a reference 3.0 reads nothing"
    );
    let (list, notes) = of(json!({ "$ref": "#/components/schemas/List" }), "3.1.0").unwrap();
    assert_eq!((list["properties"]["next"].clone(), notes.len()), (json!({}), 1));
    // Each level doubles what is below it.
    let mut wide = json!({});
    for level in 1..20 {
        let below = json!({ "$ref": format!("#/components/schemas/W{}", level - 1) });
        wide[format!("W{level}")] = json!({ "properties": { "a": below, "b": below } });
    }
    wide["W0"] = json!({ "type": "string" });
    let document = document("3.1.0", &wide);
    let mut converter = Converter::new(&document, Direction::Sent);
    let refused = converter.convert(&json!({ "$ref": "#/components/schemas/W19" })).unwrap_err();
    assert!(refused.contains("5000 parts"), "{refused}");
}

#[test]
fn parameters_get_names_that_plans_can_write() {
    let mut parameters = ToolParameters::default();
    let mut name = |original: &str, place: &str| parameters.add(original, place, json!({}), false);
    for (original, place, expected) in [
        ("per-page", "query", "per_page"),
        ("per_page", "header", "header_per_page"),
        ("end", "query", "end_"),
        ("2nd", "query", "_2nd"),
        ("filter[name]", "query", "filter_name"),
        ("X-Id", "header", "X_Id"),
    ] {
        assert_eq!(name(original, place).unwrap(), expected);
    }
    assert!(name("per.page", "header").is_err());
    assert!(name("--", "query").is_err());
}

#[test]
fn a_server_is_named_or_refused() {
    let of = |servers: Json, wanted: Option<&str>| {
        let document = document("3.1.0", &json!({}));
        server::take(&document, &json!({}), &json!({ "servers": servers }), wanted)
    };
    assert_eq!(of(json!([{ "url": "https://a.example/v1/" }]), None).unwrap(), "https://a.example/v1");
    let region = json!([{ "url": "https://{r}.example", "variables": { "r": { "default": "eu" } } }]);
    assert_eq!(of(region, None).unwrap(), "https://eu.example");
    assert_eq!(of(json!([]), Some("http://127.0.0.1:1/x")).unwrap(), "http://127.0.0.1:1/x");
    for (servers, reason) in [
        (json!([{ "url": "https://a" }, { "url": "https://b" }]), "several"),
        (json!([{ "url": "/v1" }]), "relative"),
        (json!([]), "names no server"),
        (json!([{ "url": "ftp://a" }]), "not asked by HTTP"),
        (json!([{ "url": "https://me:key@a" }]), "password"),
        (json!([{ "url": "https://{r}.example" }]), "variable"),
    ] {
        let refused = of(servers, None).unwrap_err();
        assert!(refused.contains(reason), "{refused}");
    }
}

/// Names are looked up, not searched for: twice as many operations cost about twice as much.
#[test]
fn many_operations_cost_as_much_as_they_are() {
    let seconds = |count: usize| {
        let paths: serde_json::Map<String, Json> = (0..count)
            .map(|at| (format!("/a{at}"), json!({ "get": { "operationId": format!("read_{at}") } })))
            .collect();
        // Without an address each is refused at once, so that the names take most of the time.
        let text = json!({ "openapi": "3.1.0", "servers": [{}], "paths": paths }).to_string();
        let document = Document::read(&text, "test", None).unwrap();
        let begun = std::time::Instant::now();
        let operations = document.operations(&ImportOptions::default());
        assert_eq!(operations.len(), count);
        begun.elapsed().as_secs_f64()
    };
    let few = seconds(3_000).min(seconds(3_000));
    let many = seconds(60_000);
    assert!(many < few * 120.0, "{few} s for 3,000 and {many} s for 60,000");
}
