//! References and `allOf`, as pydantic and FastMCP write them.

use serde_json::json;

use luaplan_base::{CallArguments, Value};

use super::*;

fn tool(params: serde_json::Value, result: serde_json::Value) -> ToolSpec {
    let mut spec = (**fixtures().get("desk.search").unwrap()).clone();
    spec.params = params;
    spec.result = result;
    spec.compiled = CompiledParams::default();
    spec
}

#[test]
fn definitions_of_a_result_are_classes() {
    let result = json!({
        "$defs": {
            "Kind": { "enum": ["call", "visit"], "type": "string" },
            "Page[Visit]": { "type": "object", "properties": { "next": { "type": "integer" } } },
            "Person": { "type": "object", "properties": { "name": { "type": "string", "description": "in full" } }, "required": ["name"] },
            "Visit": {
                "type": "object",
                "properties": {
                    "id": { "type": "integer" },
                    "kind": { "$ref": "#/$defs/Kind" },
                    "patient": { "allOf": [{ "$ref": "#/$defs/Person" }], "description": "who comes" },
                    "doctor": { "anyOf": [{ "$ref": "#/$defs/Person" }, { "type": "null" }] },
                    "follows": { "type": "array", "items": { "$ref": "#/$defs/Visit" } },
                    "page": { "$ref": "#/$defs/Page[Visit]" },
                },
                "required": ["id", "kind", "patient"],
            },
        },
        "type": "array",
        "items": { "$ref": "#/$defs/Visit" },
    });
    let stub = tool(json!({ "type": "object" }), result).stub();
    let expected = r#"---@class desk.search.result
---@field id integer
---@field kind "call"|"visit"
---@field patient desk.search.result.Person who comes
---@field doctor? desk.search.result.Person|nil
---@field follows? desk.search.result[]
---@field page? desk.search.result.Page_Visit_
---@class desk.search.result.Person
---@field name string in full
---@class desk.search.result.Page_Visit_
---@field next? integer
"#;
    assert!(stub.starts_with(expected), "{stub}");
    assert!(stub.contains("---@return desk.search.result[]|ToolError\n"), "{stub}");
}

#[test]
fn parts_of_all_of_are_one_table() {
    let result = json!({
        "$defs": {
            "Named": { "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] },
            "Priced": { "allOf": [{ "$ref": "#/$defs/Named" }, { "properties": { "price": { "type": "number" } } }] },
        },
        "allOf": [{ "$ref": "#/$defs/Priced" }, { "properties": { "tags": { "type": "array", "items": { "allOf": [{ "type": "string" }, { "maxLength": 9 }] } } }, "required": ["tags"] }],
    });
    let stub = tool(json!({ "type": "object" }), result).stub();
    let fields: Vec<&str> = stub.lines().filter(|line| line.starts_with("---@field")).collect();
    assert_eq!(fields, ["---@field name string", "---@field price? number", "---@field tags string[]"]);
}

#[test]
fn parameters_show_what_they_refer_to() {
    let params = json!({
        "$defs": {
            "Who": { "type": "object", "properties": { "mail": { "type": "string" }, "cc": { "$ref": "#/$defs/Who" } }, "required": ["mail"] },
            "Day": { "enum": ["mon", "tue"] },
        },
        "type": "object",
        "properties": { "who": { "$ref": "#/$defs/Who" }, "day": { "$ref": "#/$defs/Day" } },
        "required": ["who"],
    });
    let spec = tool(params, json!({}));
    let stub = spec.stub();
    assert!(
        stub.contains("---@field who desk.search.params.Who\n---@field day? \"mon\"|\"tue\"\n"),
        "{stub}"
    );
    assert!(
        stub.contains(
            "---@class desk.search.params.Who\n---@field mail string\n---@field cc? desk.search.params.Who\n"
        ),
        "{stub}"
    );
    assert!(stub.contains("fun(who: desk.search.params.Who, day?: \"mon\"|\"tue\")"), "{stub}");
    assert_eq!(spec.parameter_type("who").unwrap(), "{ mail: string, cc?: table }");
    let refused = |arguments: serde_json::Value| {
        let Value::Array(arguments) = Value::from_json(arguments).unwrap() else { unreachable!() };
        spec.bind(&CallArguments(arguments)).map_err(|failure| failure.message)
    };
    assert_eq!(
        refused(json!(["me"])).unwrap_err(),
        "`desk.search`: parameter `who` must be { mail: string, cc?: table }, but is a string of 2 characters"
    );
}

#[test]
fn an_empty_table_takes_the_kind_that_the_definition_wants() {
    let params = json!({
        "$defs": { "Filter": { "type": "object" }, "Wish": { "properties": { "filter": { "$ref": "#/$defs/Filter" } } } },
        "type": "object",
        "properties": { "wish": { "$ref": "#/$defs/Wish" } },
    });
    let arguments = Value::from_json(json!({ "wish": { "filter": [] } })).unwrap();
    let bound = tool(params, json!({})).bind(&CallArguments(vec![arguments])).unwrap();
    assert_eq!(bound.to_json(), json!({ "wish": { "filter": {} } }));
}

#[test]
fn references_that_lead_nowhere_or_in_a_ring_end() {
    let ring = json!({
        "$defs": {
            "A": { "$ref": "#/$defs/B" },
            "B": { "$ref": "#/$defs/A" },
            "List": { "type": "array", "items": { "$ref": "#/$defs/List" } },
            "Self": { "allOf": [{ "$ref": "#/$defs/Self" }, { "$ref": "#/$defs/Self" }] },
            "Either": { "anyOf": [{ "$ref": "#/$defs/Either" }, { "type": "string" }] },
        },
        "type": "object",
        "properties": {
            "a": { "$ref": "#/$defs/A" },
            "list": { "$ref": "#/$defs/List" },
            "itself": { "$ref": "#/$defs/Self" },
            "either": { "$ref": "#/$defs/Either" },
            "absent": { "$ref": "#/$defs/Absent" },
            "elsewhere": { "$ref": "https://example.com/schema.json" },
            "root": { "$ref": "#" },
        },
    });
    let spec = tool(ring.clone(), ring);
    let stub = spec.stub();
    assert!(stub.contains("---@field root? desk.search.result\n"), "{stub}");
    assert!(stub.contains("---@field absent? any\n---@field elsewhere? any\n"), "{stub}");
    assert!(spec.parameter_accepts("either", "object") && spec.parameter_accepts("a", "null"));
}

#[test]
fn many_definitions_that_hold_each_other_make_a_short_stub() {
    let mut definitions = serde_json::Map::new();
    for number in 0..30 {
        let next = json!({ "$ref": format!("#/$defs/L{}", number + 1) });
        definitions.insert(format!("L{number}"), json!({ "anyOf": [{ "type": "array", "items": next }, { "type": "object", "additionalProperties": next }] }));
    }
    let stub =
        tool(json!({ "type": "object" }), json!({ "$defs": definitions, "$ref": "#/$defs/L0" })).stub();
    assert!(stub.len() < 100_000, "{}", stub.len());
}
