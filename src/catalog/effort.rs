//! How much work it is to hold a document against a schema. The library counts nothing: references that meet again double
//! its work with each level, and a schema of five kilobytes can keep it busy for ever.

use serde_json::Value as Json;

/// The most steps of one validation. Large results take some 100,000.
const STEPS_MAX: u64 = 2_000_000;
/// What a regular expression counts for.
const PATTERN_STEPS: u64 = 50;
/// How deep schemas may apply each other.
const DEPTH_MAX: u32 = 1_000;

/// Whether `document` can be held against `schema` in bounded time, by walking both as a validator would that leaves
/// nothing out. References to anything but a place in the schema count as references to the whole of it.
///
/// # Errors
/// That it would take too long, in words.
pub(super) fn bounded(schema: &Json, document: &Json) -> Result<(), String> {
    let mut walk = Walk { root: schema, left: STEPS_MAX, depth: 0 };
    walk.apply(schema, document).map_err(|TooMuch| {
        format!("it would take more than {STEPS_MAX} steps: the schema refers to itself too often")
    })
}

struct TooMuch;

struct Walk<'a> {
    root: &'a Json,
    left: u64,
    depth: u32,
}

impl<'a> Walk<'a> {
    fn spend(&mut self, steps: u64) -> Result<(), TooMuch> {
        self.left = self.left.checked_sub(steps).ok_or(TooMuch)?;
        Ok(())
    }

    fn apply(&mut self, schema: &'a Json, instance: &Json) -> Result<(), TooMuch> {
        self.spend(1)?;
        let Json::Object(keywords) = schema else { return Ok(()) };
        if self.depth == DEPTH_MAX {
            return Err(TooMuch);
        }
        self.depth += 1;
        let applied = keywords.iter().try_for_each(|(keyword, value)| self.keyword(keyword, value, instance));
        self.depth -= 1;
        applied
    }

    fn keyword(&mut self, keyword: &str, value: &'a Json, instance: &Json) -> Result<(), TooMuch> {
        match keyword {
            "$ref" | "$dynamicRef" | "$recursiveRef" => self.apply(self.target(value), instance),
            "not" | "if" | "then" | "else" => self.apply(value, instance),
            "allOf" | "anyOf" | "oneOf" => {
                elements(value).try_for_each(|schema| self.apply(schema, instance))
            }
            "properties" | "dependentSchemas" | "dependencies" => {
                members(value).try_for_each(|(name, schema)| match instance.get(name) {
                    Some(member) if keyword == "properties" => self.apply(schema, member),
                    Some(_) => self.apply(schema, instance),
                    None => Ok(()),
                })
            }
            "pattern" => self.spend(PATTERN_STEPS),
            "patternProperties" => members(value).try_for_each(|(_, schema)| {
                members(instance).try_for_each(|(_, member)| {
                    self.spend(PATTERN_STEPS)?;
                    self.apply(schema, member)
                })
            }),
            "additionalProperties" | "unevaluatedProperties" => {
                members(instance).try_for_each(|(_, member)| self.apply(value, member))
            }
            "propertyNames" => {
                members(instance).try_for_each(|(name, _)| self.apply(value, &Json::from(name.as_str())))
            }
            "prefixItems" => self.each(value, instance),
            "items" if value.is_array() => self.each(value, instance),
            "items" | "contains" | "additionalItems" | "unevaluatedItems" => {
                elements(instance).try_for_each(|item| self.apply(value, item))
            }
            _ => Ok(()),
        }
    }

    /// One schema for each item.
    fn each(&mut self, schemas: &'a Json, instance: &Json) -> Result<(), TooMuch> {
        elements(schemas).zip(elements(instance)).try_for_each(|(schema, item)| self.apply(schema, item))
    }

    fn target(&self, reference: &Json) -> &'a Json {
        let pointer = reference.as_str().and_then(|reference| reference.strip_prefix('#'));
        let decoded =
            pointer.and_then(|pointer| percent_encoding::percent_decode_str(pointer).decode_utf8().ok());
        decoded.and_then(|pointer| self.root.pointer(&pointer)).unwrap_or(self.root)
    }
}

fn elements(value: &Json) -> impl Iterator<Item = &Json> {
    value.as_array().into_iter().flatten()
}

fn members(value: &Json) -> impl Iterator<Item = (&String, &Json)> {
    value.as_object().into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// `depth` definitions, each of which applies the next one twice.
    fn doubling(depth: usize) -> Json {
        let mut definitions = serde_json::Map::new();
        for level in 0..depth {
            let next = json!({ "$ref": format!("#/definitions/a{}", level + 1) });
            definitions.insert(format!("a{level}"), json!({ "allOf": [next, next] }));
        }
        definitions.insert(format!("a{depth}"), json!({ "type": "string" }));
        json!({ "$ref": "#/definitions/a0", "definitions": definitions })
    }

    #[test]
    fn references_that_meet_again_are_counted_each_time() {
        assert!(bounded(&doubling(15), &json!("x")).is_ok());
        assert!(bounded(&doubling(60), &json!("x")).is_err());
        let in_items = json!({ "items": { "allOf": [{ "$ref": "#" }, { "$ref": "#" }] } });
        let nested = |depth| (0..depth).fold(json!([]), |inner, _| json!([inner]));
        assert!(bounded(&in_items, &nested(10)).is_ok());
        assert!(bounded(&in_items, &nested(40)).is_err());
        assert!(bounded(&json!({ "$ref": "#" }), &json!(1)).is_err());
    }

    #[test]
    fn schemas_of_trees_and_large_documents_are_within_the_bound() {
        let tree = json!({ "type": "object", "properties": {
            "name": { "type": "string", "pattern": "^[a-z]+$" },
            "left": { "$ref": "#" }, "right": { "$ref": "#" } } });
        let document = (0..12).fold(
            json!({ "name": "leaf" }),
            |below, _| json!({ "name": "node", "left": below, "right": below }),
        );
        assert!(bounded(&tree, &document).is_ok());
        let rows: Vec<Json> =
            (0..50_000).map(|id| json!({ "id": id, "name": "x", "tags": ["a", "b"] })).collect();
        let schema = json!({ "type": "array", "items": { "type": "object", "properties": {
            "id": { "type": "integer" }, "name": { "type": "string" },
            "tags": { "type": "array", "items": { "enum": ["a", "b"] } } },
            "additionalProperties": false } });
        assert!(bounded(&schema, &Json::from(rows)).is_ok());
    }
}
