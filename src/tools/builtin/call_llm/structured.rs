//! Which schemas a provider can be held to.

use serde_json::Value as Json;

/// What the structured answers of every provider know of JSON Schema.
const KNOWN: [&str; 8] =
    ["type", "properties", "required", "additionalProperties", "items", "enum", "description", "title"];
/// As deep as every provider takes them.
const DEPTH_MAX: usize = 5;

/// The schema, where every provider takes it: objects that name all their members and take no others, one of these
/// at the top. Any other is told to the model in words, and its answer held to it all the same.
pub(super) fn for_provider(schema: &Json) -> Option<Json> {
    let is_object = schema.get("type").is_some_and(|kind| kind == "object");
    (is_object && is_taken(schema, 0)).then(|| schema.clone())
}

fn is_taken(schema: &Json, depth: usize) -> bool {
    let Some(members) = schema.as_object() else { return false };
    if depth > DEPTH_MAX || !members.keys().all(|key| KNOWN.contains(&key.as_str())) {
        return false;
    }
    match members.get("type").and_then(Json::as_str) {
        Some("object") => {
            let properties = members.get("properties").and_then(Json::as_object);
            let required = members.get("required").and_then(Json::as_array);
            let is_closed = members.get("additionalProperties") == Some(&Json::Bool(false));
            let (Some(properties), Some(required)) = (properties, required) else { return false };
            let is_required = |name: &String| required.iter().any(|required| required == name);
            is_closed
                && properties.iter().all(|(name, schema)| is_required(name) && is_taken(schema, depth + 1))
        }
        Some("array") => members.get("items").is_some_and(|items| is_taken(items, depth + 1)),
        Some("string" | "number" | "integer" | "boolean" | "null") => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_closed_objects_of_plain_members_go_to_a_provider() {
        let closed = |properties: Json, required: Json| json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false});
        let inner = closed(json!({"n": {"type": "integer"}}), json!(["n"]));
        let taken = [
            closed(json!({"kind": {"type": "string", "enum": ["a", "b"]}}), json!(["kind"])),
            closed(json!({"rows": {"type": "array", "items": inner}}), json!(["rows"])),
        ];
        for schema in taken {
            assert_eq!(for_provider(&schema).as_ref(), Some(&schema));
        }
        let refused = [
            json!({"type": "array", "items": {"type": "string"}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            closed(json!({"a": {"type": "string"}}), json!([])),
            closed(json!({"a": {"type": "string", "pattern": "^a"}}), json!(["a"])),
            closed(json!({"a": {"type": ["string", "null"]}}), json!(["a"])),
            closed(json!({"a": true}), json!(["a"])),
            json!(true),
        ];
        for schema in refused {
            assert_eq!(for_provider(&schema), None, "{schema}");
        }
        let deep =
            (0..10).fold(json!({"type": "string"}), |inner, _| closed(json!({"a": inner}), json!(["a"])));
        assert_eq!(for_provider(&deep), None);
    }
}
