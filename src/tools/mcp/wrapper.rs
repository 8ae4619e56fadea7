//! A result that a server only wraps in a record of one member, as a structured result has to be an object.

use serde_json::Value as Json;

use luaplan_base::Value;

use super::settings::UnwrapResults;

/// The member in which servers wrap a result that is no object.
const WRAPPER: &str = "result";
/// How FastMCP marks a schema that it wrapped itself.
const MARK: &str = "x-fastmcp-wrap-result";

/// The member that is taken out of results.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Wrapper {
    pub(super) member: String,
    /// What plans see of the schema: that of the member.
    pub(super) schema: Json,
}

impl Wrapper {
    /// The wrapper in results of `schema`, if they have one.
    pub(super) fn of(schema: &Json, rule: UnwrapResults) -> Option<Self> {
        let properties = schema.get("properties")?.as_object()?;
        let (member, inner) = properties.iter().next().filter(|_| properties.len() == 1)?;
        let is_required = schema
            .get("required")
            .and_then(Json::as_array)
            .is_some_and(|names| names.iter().any(|name| name == member));
        let is_marked = schema.get(MARK) == Some(&Json::Bool(true));
        // A schema that names further members, or allows them, describes a record.
        let is_closed = ["additionalProperties", "patternProperties"]
            .iter()
            .all(|key| schema.get(key).is_none_or(|others| *others == Json::Bool(false)));
        let is_wrapper = match rule {
            UnwrapResults::Auto => member == WRAPPER && is_closed && (is_required || is_marked),
            UnwrapResults::Always => is_closed && is_required,
            UnwrapResults::Never => false,
        };
        if !is_wrapper || !refers_to_definitions_alone(inner) {
            return None;
        }
        let mut whole = inner.as_object().cloned().unwrap_or_default();
        for definitions in ["$defs", "definitions"] {
            if let Some(kept) = schema.get(definitions) {
                if !refers_to_definitions_alone(kept) {
                    return None;
                }
                whole.insert(definitions.to_owned(), kept.clone());
            }
        }
        // The name of the member alone, which pydantic makes a title.
        whole.remove("title");
        Some(Self { member: member.clone(), schema: Json::Object(whole) })
    }

    /// The value in the wrapper.
    ///
    /// # Errors
    /// In words, where the record has other members: they would be lost.
    pub(super) fn take(&self, result: Value) -> Result<Value, String> {
        match result {
            Value::Object(mut members) if members.len() == 1 && members.contains_key(&self.member) => {
                Ok(members.shift_remove(&self.member).unwrap_or(Value::Null))
            }
            Value::Object(_) => Err(format!(
                "members besides `{}`, which its schema has alone; `unwrap_results = \"never\"` keeps them",
                self.member
            )),
            _ => Err(format!("no record with the member `{}`", self.member)),
        }
    }
}

/// Whether every reference in `schema` still leads where it did once the schema is on its own.
fn refers_to_definitions_alone(schema: &Json) -> bool {
    match schema {
        Json::Object(members) => members.iter().all(|(key, value)| match (key.as_str(), value) {
            ("$ref", Json::String(to)) => ["#/$defs/", "#/definitions/"].iter().any(|at| to.starts_with(at)),
            ("$id" | "$anchor" | "$dynamicRef" | "$dynamicAnchor", Json::String(_)) => false,
            (_, value) => refers_to_definitions_alone(value),
        }),
        Json::Array(items) => items.iter().all(refers_to_definitions_alone),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn member(schema: &Json, rule: UnwrapResults) -> Option<String> {
        Wrapper::of(schema, rule).map(|wrapper| wrapper.member)
    }

    #[test]
    fn the_sole_member_result_is_a_wrapper() {
        use UnwrapResults::{Always, Auto, Never};
        let list = json!({ "type": "array", "items": { "$ref": "#/$defs/Day" }, "title": "Result" });
        let wrapped = json!({ "type": "object", "properties": { "result": list }, "required": ["result"],
            "$defs": { "Day": { "type": "string" } }, "x-fastmcp-wrap-result": true });
        let wrapper = Wrapper::of(&wrapped, Auto).unwrap();
        let expected = json!({ "type": "array", "items": { "$ref": "#/$defs/Day" }, "$defs": { "Day": { "type": "string" } } });
        assert_eq!((wrapper.member.as_str(), wrapper.schema), ("result", expected));
        assert_eq!(member(&wrapped, Never), None);
        let of = |properties: Json, required: Json, open: Json| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": open });
        let plain = of(json!({ "result": {} }), json!(["result"]), json!(false));
        assert_eq!(member(&plain, Auto).as_deref(), Some("result"));
        let items = of(json!({ "items": {} }), json!(["items"]), json!(false));
        assert_eq!((member(&items, Auto), member(&items, Always).as_deref()), (None, Some("items")));
        for record in [
            of(json!({ "result": {}, "next": {} }), json!(["result"]), json!(false)),
            of(json!({ "result": {} }), json!([]), json!(false)),
            of(json!({ "result": {} }), json!(["result"]), json!(true)),
            of(json!({ "result": { "$ref": "#/properties/result/items" } }), json!(["result"]), json!(false)),
            json!({ "type": "object" }),
        ] {
            assert_eq!((member(&record, Auto), member(&record, Always)), (None, None), "{record}");
        }
    }

    #[test]
    fn members_beside_the_wrapped_one_are_not_lost() {
        let schema = json!({ "properties": { "result": {} }, "required": ["result"] });
        let wrapper = Wrapper::of(&schema, UnwrapResults::Auto).unwrap();
        let take = |json: Json| wrapper.take(Value::from_json(json).unwrap()).map(|value| value.to_json());
        assert_eq!(take(json!({ "result": [1] })), Ok(json!([1])));
        assert_eq!(take(json!({ "result": null })), Ok(Json::Null));
        assert!(
            take(json!({ "result": [1], "more": 2 })).unwrap_err().starts_with("members besides `result`")
        );
        assert!(take(json!([1])).is_err());
    }
}
