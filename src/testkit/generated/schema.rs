//! Values that fit a JSON Schema.
//!
//! A value is a good guess: conditions (`if`, `not`, `dependentSchemas`) are not followed. The caller
//! validates it, and tries again with fewer optional parts.

use serde_json::{Map, Value as Json, json};

use super::draw::Draw;
use super::{limits, objects, pattern, words};

/// How deep optional parts are nested on the first attempt.
const OPTIONAL_DEPTH: u32 = 4;

/// The deepest nesting: a schema that needs more is endless.
const DEPTH_MAX: u32 = 24;

/// How many values one attempt may write.
const NODES_MAX: u32 = 2000;

const LIST_ITEMS_MAX: usize = 4;

const TEXT_TRIES: u32 = 20;

/// Writes one value.
pub(super) struct Writer<'a> {
    root: &'a Json,
    pub(super) draw: Draw,
    optional_depth: u32,
    nodes_left: u32,
}

impl<'a> Writer<'a> {
    pub(super) fn new(root: &'a Json, draw: Draw, attempt: u32) -> Self {
        let optional_depth = OPTIONAL_DEPTH.saturating_sub(attempt);
        Self { root, draw, optional_depth, nodes_left: NODES_MAX }
    }

    /// A value for the whole schema.
    pub(super) fn write(mut self) -> Option<Json> {
        self.value(self.root, "", 0)
    }

    /// A value for `schema`, the member `name` of what is around it.
    pub(super) fn value(&mut self, schema: &Json, name: &str, depth: u32) -> Option<Json> {
        self.nodes_left = self.nodes_left.checked_sub(1)?;
        if depth > DEPTH_MAX || *schema == Json::Bool(false) {
            return None;
        }
        let schema = self.flat(schema, depth)?;
        if let Some(value) = schema.get("const") {
            return Some(value.clone());
        }
        if let Some(Json::Array(values)) = schema.get("enum") {
            return self.draw.pick(values).cloned();
        }
        for key in ["oneOf", "anyOf"] {
            if let Some(Json::Array(choices)) = schema.get(key) {
                return self.one_of(&schema, key, choices, name, depth);
            }
        }
        if let Some(Json::Array(examples)) = schema.get("examples")
            && self.draw.once_in(2)
            && let Some(example) = self.draw.pick(examples)
        {
            return Some(example.clone());
        }
        let kinds = kinds(&schema);
        if kinds.is_empty() {
            return Some(words::by_name(name, &mut self.draw));
        }
        for place in self.draw.order(kinds.len()) {
            // Null is rare where another kind is possible.
            if kinds[place] == "null" && kinds.len() > 1 && !self.draw.once_in(4) {
                continue;
            }
            if let Some(value) = self.of_kind(kinds[place], &schema, name, depth) {
                return Some(value);
            }
        }
        kinds.contains(&"null").then_some(Json::Null)
    }

    /// Whether parts that may be left out are written at this depth.
    pub(super) fn has_optional(&self, depth: u32) -> bool {
        depth < self.optional_depth
    }

    fn of_kind(&mut self, kind: &str, schema: &Map<String, Json>, name: &str, depth: u32) -> Option<Json> {
        match kind {
            "null" => Some(Json::Null),
            "boolean" => Some(json!(self.draw.once_in(2))),
            "integer" => limits::integer(schema, name, &mut self.draw),
            "number" => limits::number(schema, name, &mut self.draw),
            "string" => self.text(schema, name),
            "array" => self.list(schema, name, depth),
            _ => objects::object(self, schema, depth),
        }
    }

    /// The schema merged with its references and its `allOf`-like parts.
    fn flat(&self, schema: &Json, depth: u32) -> Option<Map<String, Json>> {
        let Json::Object(members) = schema else { return Some(Map::new()) };
        if depth > DEPTH_MAX {
            return None;
        }
        let mut flat = members.clone();
        if let Some(Json::String(target)) = flat.remove("$ref") {
            let pointed = self.root.pointer(target.strip_prefix('#')?)?;
            join(&mut flat, &self.flat(pointed, depth + 1)?);
        }
        if let Some(Json::Array(parts)) = flat.remove("allOf") {
            for part in &parts {
                join(&mut flat, &self.flat(part, depth + 1)?);
            }
        }
        Some(flat)
    }

    fn one_of(
        &mut self,
        schema: &Map<String, Json>,
        key: &str,
        choices: &[Json],
        name: &str,
        depth: u32,
    ) -> Option<Json> {
        let mut around = schema.clone();
        around.remove(key);
        let mut order = self.draw.order(choices.len());
        if !self.has_optional(depth) {
            order.sort_by_key(|place| choices[*place].to_string().contains("\"$ref\""));
        }
        order.into_iter().find_map(|place| {
            let mut joined = self.flat(&choices[place], depth)?;
            join(&mut joined, &around);
            self.value(&Json::Object(joined), name, depth + 1)
        })
    }

    fn text(&mut self, schema: &Map<String, Json>, name: &str) -> Option<Json> {
        let least = length(schema, "minLength").unwrap_or(0);
        let most = length(schema, "maxLength").unwrap_or(usize::MAX);
        if let Some(Json::String(wanted)) = schema.get("pattern") {
            let drawn = (0..TEXT_TRIES).find_map(|_| {
                let text = pattern::matching(wanted, &mut self.draw)?;
                (least..=most).contains(&text.chars().count()).then_some(text)
            });
            return drawn.map(Json::String);
        }
        let format = schema.get("format").and_then(Json::as_str);
        if let Some(text) = format.and_then(|format| words::formatted(format, &mut self.draw)) {
            return Some(Json::String(text));
        }
        let mut text = words::text(name, &mut self.draw);
        while text.chars().count() < least && text.len() < NODES_MAX as usize * 10 {
            text.push(' ');
            text.push_str(&words::words(&mut self.draw));
        }
        Some(Json::String(text.chars().take(most).collect()))
    }

    fn list(&mut self, schema: &Map<String, Json>, name: &str, depth: u32) -> Option<Json> {
        let first: &[Json] = schema.get("prefixItems").and_then(Json::as_array).map_or(&[], Vec::as_slice);
        let least = length(schema, "minItems").unwrap_or(0);
        let most = length(schema, "maxItems").unwrap_or(usize::MAX);
        let wanted = match self.has_optional(depth) && !self.draw.once_in(6) {
            true => first.len().max(1 + self.draw.below(LIST_ITEMS_MAX)),
            false => 0,
        };
        let count = wanted.max(least).min(most);
        let is_unique = schema.get("uniqueItems") == Some(&Json::Bool(true));
        let anything = Json::Bool(true);
        let rest = schema.get("items").unwrap_or(&anything);
        let mut items: Vec<Json> = Vec::new();
        if let Some(contained) = schema.get("contains") {
            items.push(self.value(contained, name, depth + 1)?);
        }
        for _ in 0..count.saturating_mul(4) {
            if items.len() >= count {
                break;
            }
            let schema = first.get(items.len()).unwrap_or(rest);
            match self.value(schema, name, depth + 1) {
                Some(item) if !is_unique || !items.contains(&item) => items.push(item),
                Some(_) => {}
                None => break,
            }
        }
        (items.len() >= least).then_some(Json::Array(items))
    }
}

/// The kinds that the schema allows: by `type`, or as its other keywords imply.
fn kinds(schema: &Map<String, Json>) -> Vec<&str> {
    match schema.get("type") {
        Some(Json::String(kind)) => return vec![kind],
        Some(Json::Array(kinds)) => return kinds.iter().filter_map(Json::as_str).collect(),
        _ => {}
    }
    let has = |keys: &[&str]| keys.iter().any(|key| schema.contains_key(*key));
    if has(&["properties", "required", "additionalProperties", "minProperties", "patternProperties"]) {
        vec!["object"]
    } else if has(&["items", "prefixItems", "minItems", "maxItems", "contains"]) {
        vec!["array"]
    } else if has(&["pattern", "format", "minLength", "maxLength"]) {
        vec!["string"]
    } else if has(&["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]) {
        vec!["number"]
    } else {
        Vec::new()
    }
}

/// Adds the constraints of `more` to `schema`.
fn join(schema: &mut Map<String, Json>, more: &Map<String, Json>) {
    for (key, added) in more {
        let joined = match (key.as_str(), schema.get(key), added) {
            (_, None, _) => added.clone(),
            ("properties", Some(Json::Object(known)), Json::Object(added)) => {
                let mut both = known.clone();
                for (name, schema) in added {
                    match both.get_mut(name) {
                        Some(Json::Object(known)) => {
                            if let Json::Object(schema) = schema {
                                join(known, schema);
                            }
                        }
                        _ => _ = both.insert(name.clone(), schema.clone()),
                    }
                }
                Json::Object(both)
            }
            ("required", Some(Json::Array(known)), Json::Array(added)) => {
                Json::Array(known.iter().chain(added).cloned().collect())
            }
            ("type", Some(known), added) => shared_kinds(known, added),
            ("enum", Some(Json::Array(known)), Json::Array(added)) => {
                Json::Array(known.iter().filter(|value| added.contains(value)).cloned().collect())
            }
            ("minimum" | "exclusiveMinimum" | "minLength" | "minItems", Some(known), added) => {
                if added.as_f64() > known.as_f64() { added.clone() } else { known.clone() }
            }
            ("maximum" | "exclusiveMaximum" | "maxLength" | "maxItems", Some(known), added) => {
                if added.as_f64() < known.as_f64() { added.clone() } else { known.clone() }
            }
            (_, Some(known), _) => known.clone(),
        };
        schema.insert(key.clone(), joined);
    }
}

/// The kinds that both allow.
fn shared_kinds(one: &Json, other: &Json) -> Json {
    let list = |kinds: &Json| match kinds {
        Json::Array(kinds) => kinds.clone(),
        kind => vec![kind.clone()],
    };
    let (one, other) = (list(one), list(other));
    let mut shared: Vec<Json> = one.iter().filter(|kind| other.contains(kind)).cloned().collect();
    let has = |kinds: &[Json], kind: &str| kinds.iter().any(|known| known == kind);
    if (has(&one, "number") && has(&other, "integer")) || (has(&one, "integer") && has(&other, "number")) {
        shared.push(json!("integer"));
    }
    Json::Array(shared)
}

/// A length a schema gives, also where it is written as `3.0`.
pub(super) fn length(schema: &Map<String, Json>, key: &str) -> Option<usize> {
    let given = schema.get(key)?;
    let written =
        || given.as_f64().filter(|length| length.fract() == 0.0).map(|length| format!("{length:.0}"));
    usize::try_from(given.as_u64().or_else(|| written()?.parse().ok())?).ok()
}
