//! Schemas of a document as schemas of a manifest: references resolved, OpenAPI's own keywords converted
//! to JSON Schema's, nothing that TOML cannot hold.

use serde_json::{Map, Value as Json, json};

use super::document::{Document, SchemaDialect};

/// A schema with its references put in may not have more nodes than this.
const NODES_MAX: usize = 5_000;
/// Nor be nested deeper.
const DEPTH_MAX: usize = 48;
/// A longer description of a parameter is cut.
pub(super) const DESCRIPTION_CHARACTERS_MAX: usize = 300;

/// The direction of a value: some members go only one way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// To the server.
    Sent,
    /// From the server.
    Received,
}

/// Keywords whose values are taken as they are.
const PLAIN: [&str; 18] = [
    "type",
    "format",
    "pattern",
    "required",
    "minLength",
    "maxLength",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minContains",
    "maxContains",
];
/// Keywords that hold a schema.
const ONE: [&str; 9] = [
    "items",
    "additionalProperties",
    "not",
    "contains",
    "propertyNames",
    "if",
    "then",
    "else",
    "unevaluatedProperties",
];
/// Keywords that hold a list of schemas.
const LISTS: [&str; 4] = ["allOf", "anyOf", "oneOf", "prefixItems"];
/// Keywords that hold schemas by name.
const NAMED: [&str; 3] = ["properties", "patternProperties", "dependentSchemas"];
/// Keywords that change what references mean.
const REFUSED: [&str; 6] =
    ["$id", "$anchor", "$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"];

/// Turns one schema, with what it was bounded by and what it left out.
pub(super) struct Converter<'a> {
    document: &'a Document,
    direction: Direction,
    /// References being put in, outermost first.
    open: Vec<String>,
    nodes: usize,
    /// What was left out.
    pub(super) notes: Vec<String>,
}

impl<'a> Converter<'a> {
    pub(super) fn new(document: &'a Document, direction: Direction) -> Self {
        Self { document, direction, open: Vec::new(), nodes: 0, notes: Vec::new() }
    }

    /// The schema as JSON Schema without references.
    ///
    /// # Errors
    /// In words: a reference that leads nowhere, a schema that is too large, or one that means something
    /// that cannot be said in a manifest.
    pub(super) fn convert(&mut self, schema: &Json) -> Result<Json, String> {
        self.at_depth(schema, 0)
    }

    fn at_depth(&mut self, schema: &Json, depth: usize) -> Result<Json, String> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            return Err(format!("its schema has more than {NODES_MAX} parts once references are put in"));
        }
        if depth > DEPTH_MAX {
            return Err(format!("its schema is nested deeper than {DEPTH_MAX}"));
        }
        let members = match schema {
            Json::Bool(true) => return Ok(json!({})),
            Json::Bool(false) => return Ok(Json::Bool(false)),
            Json::Object(members) => members,
            _ => return Err("a schema is neither an object nor true or false".to_owned()),
        };
        if let Some(keyword) = REFUSED.iter().find(|keyword| members.contains_key(**keyword)) {
            return Err(format!("its schema uses `{keyword}`"));
        }
        match members.get("$ref") {
            Some(reference) => self.referred(reference, members, depth),
            None => self.keywords(members, depth),
        }
    }

    fn referred(
        &mut self,
        reference: &Json,
        members: &Map<String, Json>,
        depth: usize,
    ) -> Result<Json, String> {
        let name = reference.as_str().unwrap_or_default().to_owned();
        let target = self.document.follow(reference)?;
        if self.open.contains(&name) {
            let note = format!("`{name}` holds itself: what is inside of it there is not checked");
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
            return Ok(json!({}));
        }
        self.open.push(name);
        let converted = self.at_depth(target, depth + 1);
        self.open.pop();
        let mut converted = converted?;
        // OpenAPI 3.0 ignores keywords beside a reference.
        if self.document.dialect == SchemaDialect::V30 {
            return Ok(converted);
        }
        let mut beside = members.clone();
        beside.shift_remove("$ref");
        let beside = self.keywords(&beside, depth + 1)?;
        let Json::Object(mut beside) = beside else { return Ok(converted) };
        if let Some(description) = beside.shift_remove("description")
            && let Some(members) = converted.as_object_mut()
        {
            members.insert("description".to_owned(), description);
        }
        Ok(if beside.is_empty() { converted } else { json!({ "allOf": [converted, beside] }) })
    }

    fn keywords(&mut self, members: &Map<String, Json>, depth: usize) -> Result<Json, String> {
        let mut converted = Map::new();
        for (name, value) in members {
            let name = name.as_str();
            let value = if PLAIN.contains(&name) {
                without_large_integers(value)
            } else if ONE.contains(&name) {
                self.at_depth(value, depth + 1)?
            } else if LISTS.contains(&name) {
                let schemas = value.as_array().ok_or_else(|| format!("`{name}` of a schema is no list"))?;
                Json::Array(
                    schemas.iter().map(|one| self.at_depth(one, depth + 1)).collect::<Result<_, _>>()?,
                )
            } else if NAMED.contains(&name) {
                self.named(name, value, depth)?
            } else if name == "description" {
                match value.as_str().map(|text| cut(text, DESCRIPTION_CHARACTERS_MAX)) {
                    Some(text) if !text.is_empty() => text.into(),
                    _ => continue,
                }
            } else if matches!(name, "enum" | "const" | "default" | "dependentRequired") {
                value.clone()
            } else {
                // Descriptive keywords: examples, titles, extensions.
                continue;
            };
            converted.insert(name.to_owned(), value);
        }
        self.one_way_members(members, &mut converted);
        if self.document.dialect == SchemaDialect::V30 {
            exclusive_bounds(&mut converted);
        }
        without_null(&mut converted)?;
        let nullable = members.get("nullable") == Some(&Json::Bool(true));
        if nullable && self.document.dialect == SchemaDialect::V30 {
            return Ok(or_null(converted));
        }
        Ok(Json::Object(converted))
    }

    fn named(&mut self, keyword: &str, value: &Json, depth: usize) -> Result<Json, String> {
        let schemas = value.as_object().ok_or_else(|| format!("`{keyword}` of a schema is no object"))?;
        let mut converted = Map::new();
        for (name, schema) in schemas {
            if keyword == "properties" && self.direction == Direction::Sent && self.says(schema, "readOnly") {
                continue;
            }
            converted.insert(name.clone(), self.at_depth(schema, depth + 1)?);
        }
        Ok(Json::Object(converted))
    }

    /// Members that go the other way alone need not be there.
    fn one_way_members(&self, members: &Map<String, Json>, converted: &mut Map<String, Json>) {
        let word = if self.direction == Direction::Sent { "readOnly" } else { "writeOnly" };
        let Some(properties) = members.get("properties").and_then(Json::as_object) else { return };
        let goes_here = |name: &Json| {
            let schema = name.as_str().and_then(|name| properties.get(name));
            !schema.is_some_and(|schema| self.says(schema, word))
        };
        if let Some(Json::Array(required)) = converted.get_mut("required") {
            required.retain(goes_here);
        }
    }

    fn says(&self, schema: &Json, word: &str) -> bool {
        let says = |schema: &Json| schema.get(word) == Some(&Json::Bool(true));
        says(schema) || self.document.resolved(schema).is_ok_and(says)
    }
}

/// OpenAPI 3.0 has booleans for exclusive bounds.
fn exclusive_bounds(schema: &mut Map<String, Json>) {
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match schema.get(exclusive) {
            Some(Json::Bool(true)) => match schema.shift_remove(bound) {
                Some(number) => drop(schema.insert(exclusive.to_owned(), number)),
                None => drop(schema.shift_remove(exclusive)),
            },
            Some(Json::Bool(false)) => drop(schema.shift_remove(exclusive)),
            _ => {}
        }
    }
}

/// The same schema, or null.
fn or_null(mut schema: Map<String, Json>) -> Json {
    if schema.keys().all(|key| key == "description") {
        return Json::Object(schema);
    }
    let only_types =
        !["enum", "const", "allOf", "anyOf", "oneOf", "not"].iter().any(|key| schema.contains_key(*key));
    match schema.get_mut("type") {
        Some(kind @ Json::String(_)) if only_types => {
            *kind = json!([kind.clone(), "null"]);
            Json::Object(schema)
        }
        _ => {
            let description = schema.shift_remove("description");
            let mut either = Map::new();
            either.extend(description.map(|text| ("description".to_owned(), text)));
            either.insert("anyOf".to_owned(), json!([schema, { "type": "null" }]));
            Json::Object(either)
        }
    }
}

/// TOML has no null: a list of values that names it becomes the others, or the type null.
fn without_null(schema: &mut Map<String, Json>) -> Result<(), String> {
    if schema.get("default").is_some_and(holds_null) {
        schema.shift_remove("default");
    }
    if schema.get("const") == Some(&Json::Null) {
        schema.shift_remove("const");
        schema.insert("type".to_owned(), "null".into());
    }
    let values = schema.get("enum").and_then(Json::as_array);
    if let Some(values) = values.filter(|values| values.contains(&Json::Null)) {
        let others: Vec<Json> = values.iter().filter(|value| !value.is_null()).cloned().collect();
        schema.shift_remove("enum");
        let either = if others.is_empty() {
            json!([{ "type": "null" }])
        } else {
            json!([{ "enum": others }, { "type": "null" }])
        };
        match schema.shift_remove("anyOf") {
            None => drop(schema.insert("anyOf".to_owned(), either)),
            Some(before) => {
                let mut all = match schema.shift_remove("allOf") {
                    Some(Json::Array(all)) => all,
                    _ => Vec::new(),
                };
                all.extend([json!({ "anyOf": before }), json!({ "anyOf": either })]);
                schema.insert("allOf".to_owned(), Json::Array(all));
            }
        }
    }
    match ["const", "enum"].iter().find(|key| schema.get(**key).is_some_and(holds_null)) {
        Some(key) => Err(format!("`{key}` of a schema holds null inside a value, which a manifest cannot")),
        None => Ok(()),
    }
}

fn holds_null(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Array(items) => items.iter().any(holds_null),
        Json::Object(members) => members.values().any(holds_null),
        _ => false,
    }
}

/// TOML's integers end at 64 signed bits, as those of plans do: a bound beyond is a float, which no
/// integer of a plan passes either.
fn without_large_integers(value: &Json) -> Json {
    match value.as_u64() {
        Some(number) if i64::try_from(number).is_err() => value.as_f64().map_or(Json::Null, Json::from),
        _ => value.clone(),
    }
}

/// Words in a row, at most so many characters.
pub(super) fn cut(text: &str, characters_max: usize) -> String {
    let words: Vec<&str> =
        text.split(|c: char| c.is_whitespace() || c.is_control()).filter(|word| !word.is_empty()).collect();
    let line = words.join(" ");
    if line.chars().count() <= characters_max {
        return line;
    }
    line.chars().take(characters_max - 1).chain(['…']).collect()
}

/// Whether a schema restricts the kind of value; otherwise only a call shows whether a value fits.
pub(super) fn says_kind(schema: &Json) -> bool {
    ["type", "enum", "const", "anyOf", "oneOf", "allOf", "properties", "items"]
        .iter()
        .any(|key| schema.get(key).is_some())
}
