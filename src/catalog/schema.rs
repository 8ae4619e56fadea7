//! Small questions to a JSON Schema.

use serde_json::Value as Json;

use luaplan_base::Value;

use super::references::followed;

/// Whether `schema` may take a value of `kind`, one of JSON Schema's seven type names.
///
/// Errs on the side of yes: references and conditions are left to the full validation.
#[must_use]
pub fn accepts(schema: &Json, kind: &str) -> bool {
    accepts_in(&Json::Null, schema, kind)
}

/// As [`accepts`], with references followed in the document `root`.
pub(super) fn accepts_in(root: &Json, schema: &Json, kind: &str) -> bool {
    accepts_at(root, schema, kind, 0)
}

fn accepts_at(root: &Json, schema: &Json, kind: &str, depth: usize) -> bool {
    /// Deeper, as in a schema that refers to itself, anything may fit.
    const DEPTH_MAX: usize = 8;
    if depth > DEPTH_MAX {
        return true;
    }
    let accepts = |schema: &Json| accepts_at(root, schema, kind, depth + 1);
    let members = match followed(root, schema) {
        Json::Bool(accepts_all) => return *accepts_all,
        Json::Object(members) => members,
        _ => return true,
    };
    let fits = |name: &Json| name == kind || (name == "number" && kind == "integer");
    let by_type = match members.get("type") {
        Some(Json::Array(names)) => names.iter().any(fits),
        Some(name) => fits(name),
        None => true,
    };
    let by_values = members.get("enum").and_then(Json::as_array).is_none_or(|values| {
        values.iter().any(|value| kind_of(value) == kind || (kind == "number" && value.is_number()))
    });
    let some_of = |key: &str| {
        members.get(key).and_then(Json::as_array).is_none_or(|schemas| schemas.iter().any(accepts))
    };
    let all_of =
        members.get("allOf").and_then(Json::as_array).is_none_or(|schemas| schemas.iter().all(accepts));
    by_type && by_values && all_of && some_of("anyOf") && some_of("oneOf")
}

/// The JSON Schema type of a document.
fn kind_of(value: &Json) -> &'static str {
    match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(number) if number.is_f64() => "number",
        Json::Number(_) => "integer",
        Json::String(_) => "string",
        Json::Array(_) => "array",
        Json::Object(_) => "object",
    }
}

/// Gives a value the kind its schema wants where Lua cannot say it: an empty table becomes a list
/// or an object, and a float without a fraction becomes an integer.
pub(super) fn conform(value: Value, schema: &Json, root: &Json) -> Value {
    let schema = followed(root, schema);
    let accepts = |schema: &Json, kind: &str| accepts_in(root, schema, kind);
    match value {
        Value::Array(items) if items.is_empty() => {
            if !accepts(schema, "array") && accepts(schema, "object") {
                Value::Object(indexmap::IndexMap::new())
            } else {
                Value::Array(items)
            }
        }
        Value::Object(members) if members.is_empty() => {
            if !accepts(schema, "object") && accepts(schema, "array") {
                Value::Array(Vec::new())
            } else {
                Value::Object(members)
            }
        }
        Value::Float(float) => conform_float(float, schema, root),
        Value::Array(items) => match schema.get("items") {
            Some(item) => Value::Array(items.into_iter().map(|value| conform(value, item, root)).collect()),
            None => Value::Array(items),
        },
        Value::Object(members) => Value::Object(
            members
                .into_iter()
                .map(|(name, value)| {
                    let inner = schema
                        .get("properties")
                        .and_then(|properties| properties.get(&name))
                        .or_else(|| schema.get("additionalProperties"));
                    let value = match inner {
                        Some(inner) => conform(value, inner, root),
                        None => value,
                    };
                    (name, value)
                })
                .collect(),
        ),
        other => other,
    }
}

fn conform_float(float: f64, schema: &Json, root: &Json) -> Value {
    /// Every whole double below this magnitude is an exact 64-bit integer.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    let wants_integer = !accepts_in(root, schema, "number") && accepts_in(root, schema, "integer");
    if wants_integer && float.fract() == 0.0 && float.abs() <= EXACT_MAX {
        #[expect(clippy::cast_possible_truncation, reason = "the range is checked")]
        return Value::Integer(float as i64);
    }
    Value::Float(float)
}

/// A value as validation sees it: bytes count as a string.
pub(super) fn for_validation(value: &Value) -> Json {
    match value {
        Value::Bytes(bytes) => Json::String(String::from_utf8_lossy(bytes).into_owned()),
        Value::Array(items) => Json::Array(items.iter().map(for_validation).collect()),
        Value::Object(members) => {
            Json::Object(members.iter().map(|(name, value)| (name.clone(), for_validation(value))).collect())
        }
        other => other.to_json(),
    }
}
