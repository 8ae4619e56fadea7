//! JSON Schemas of the tools' arguments and results.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::JsonSchema;
use serde_json::{Value as Json, json};

/// The schema of `T`, simplified for assistants: an optional argument is not also nullable, and widths
/// of integers are omitted.
pub(super) fn input<T: JsonSchema>() -> JsonObject {
    let mut schema = schemars::schema_for!(T).to_value();
    let mut members = schema.as_object_mut().map(std::mem::take).unwrap_or_default();
    for key in ["$schema", "title", "description"] {
        members.shift_remove(key);
    }
    // Empty and absent `properties` mean the same, but some clients require them.
    let properties = members.entry("properties").or_insert_with(|| json!({}));
    for property in properties.as_object_mut().into_iter().flatten().map(|(_, property)| property) {
        plain(property);
    }
    members
}

fn plain(property: &mut Json) {
    let Some(members) = property.as_object_mut() else { return };
    if let Some(Json::Array(types)) = members.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            members.insert("type".to_owned(), only);
        }
    }
    if members.get("default").is_some_and(Json::is_null) {
        members.shift_remove("default");
    }
    members.shift_remove("format");
}

/// An object with these members, any of which may be absent, and `error` where the tool failed.
pub(super) fn output(properties: &Json) -> Arc<JsonObject> {
    let mut all = JsonObject::new();
    all.insert("type".into(), "object".into());
    let mut members = properties.as_object().cloned().unwrap_or_default();
    members.insert(
        "error".into(),
        json!({
            "type": "object",
            "description": "why it failed",
            "properties": {
                "code": { "type": "string", "description": "stable reason" },
                "message": { "description": "what happened" },
                "help": { "description": "what to do next" },
            },
            "required": ["code", "message", "help"],
        }),
    );
    all.insert("properties".into(), Json::Object(members));
    Arc::new(all)
}

/// The result of tools that run a plan.
pub(super) fn run_output() -> Arc<JsonObject> {
    output(&json!({
        "run_id": { "type": "string" },
        "status": {
            "type": "string",
            "enum": ["running", "sleeping", "paused", "succeeded", "failed", "cancelled"],
        },
        "result": { "description": "what `run` returned" },
        "printed": { "description": "what the program printed" },
        "shortened": {
            "type": "array",
            "items": { "type": "string" },
            "description": "paths of values replaced by {\"shortened\": true, \"type\", \"bytes\", \"items\"?, \"shape\"?, \"head\", \"read_on\"}, as they are too long; `read_on` is what to call `read_result` with",
        },
        "usage": { "type": "object", "description": "what the run used" },
    }))
}
