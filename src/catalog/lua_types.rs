//! JSON Schema as LuaCATS types.
//!
//! A definition that a schema refers to is a class of its own, so that it is written once and may hold itself.

use std::fmt::Write as _;

use indexmap::IndexMap;
use serde_json::Value as Json;

use super::references::{followed, merged, reference, target};
use super::stub::{key, one_line};

/// Types inside types; what is nested deeper is `any`.
const DEPTH_MAX: usize = 24;
/// Schemas that one tool's types are made of; further ones are `any`.
const PARTS_MAX: usize = 4_000;
/// Classes that one schema may have; further definitions are written where they are used.
const CLASSES_MAX: usize = 64;

/// The types of one schema.
pub(super) struct LuaTypes<'a> {
    root: &'a Json,
    /// What the names of the definitions' classes begin with; without it they are written where they are used.
    prefix: Option<String>,
    /// From a reference to its class, in the order in which they are needed.
    classes: IndexMap<String, String>,
    /// References that are being written where they are used, outermost first.
    open: Vec<String>,
    depth: usize,
    parts: usize,
}

/// The type of what follows `schema`, on one line.
#[must_use]
pub fn lua_type(schema: &Json) -> String {
    LuaTypes::inline(schema).of(schema)
}

impl<'a> LuaTypes<'a> {
    /// Types on one line, without classes.
    pub(super) fn inline(root: &'a Json) -> Self {
        Self { root, prefix: None, classes: IndexMap::new(), open: Vec::new(), depth: 0, parts: 0 }
    }

    /// Types with a class for each definition, named `prefix.DEFINITION`.
    pub(super) fn with_classes(root: &'a Json, prefix: &str) -> Self {
        Self { prefix: Some(prefix.to_owned()), ..Self::inline(root) }
    }

    /// A schema as a type. With `text`, where it is a table with fields or a list of these, the fields are written
    /// there as the class that the prefix names.
    pub(super) fn whole(&mut self, schema: &Json, text: &mut String) -> String {
        let root = self.root;
        let (item, suffix) = match merged(root, schema).get("items") {
            Some(items) if merged(root, schema).get("type").is_some_and(|kind| kind == "array") => {
                (items.clone(), "[]")
            }
            _ => (schema.clone(), ""),
        };
        let Some(class) = self.prefix.clone().filter(|_| merged(root, &item).get("properties").is_some())
        else {
            return self.of(schema);
        };
        // A definition that is the whole result holds itself under this name.
        let root = suffix.is_empty().then_some("#");
        for reference in reference(&item).into_iter().chain(root) {
            self.classes.insert(reference.to_owned(), class.clone());
        }
        self.write_class(&class, &item, text);
        class + suffix
    }

    /// Writes the classes of all definitions that the types so far refer to.
    pub(super) fn write_classes(&mut self, text: &mut String) {
        let written = self.prefix.clone().unwrap_or_default();
        let mut place = 0;
        while let Some((reference, class)) = self.classes.get_index(place) {
            let (reference, class) = (reference.clone(), class.clone());
            place += 1;
            if let Some(schema) = target(self.root, &reference).filter(|_| class != written) {
                self.write_class(&class, schema, text);
            }
        }
    }

    fn write_class(&mut self, class: &str, schema: &Json, text: &mut String) {
        let schema = merged(self.root, schema).into_owned();
        let _ = writeln!(text, "---@class {class}");
        let required = required_of(&schema);
        for (name, property) in schema.get("properties").and_then(Json::as_object).into_iter().flatten() {
            text.push_str(&self.field(name, property, required.contains(&name.as_str())));
        }
        if let Some(others) = self.others_of(&schema) {
            let _ = writeln!(text, "---@field [string] {others}");
        }
    }

    /// One line of a class.
    pub(super) fn field(&mut self, name: &str, schema: &Json, required: bool) -> String {
        self.documented("field", name, schema, required)
    }

    /// One line of a function.
    pub(super) fn parameter(&mut self, name: &str, schema: &Json, required: bool) -> String {
        self.documented("param", name, schema, required)
    }

    fn documented(&mut self, tag: &str, name: &str, schema: &Json, required: bool) -> String {
        let optional = if required { "" } else { "?" };
        let mut line = format!("---@{tag} {}{optional} {}", key(name), self.of(schema));
        if let Some(description) = schema.get("description").and_then(Json::as_str) {
            let _ = write!(line, " {}", one_line(description));
        }
        if let Some(bounds) = bounds(followed(self.root, schema)) {
            let _ = write!(line, " ({bounds})");
        }
        if let Some(default) = schema.get("default") {
            let _ = write!(line, " (default {})", literal(default));
        }
        line.push('\n');
        line
    }

    /// A schema as a type, on one line.
    pub(super) fn of(&mut self, schema: &Json) -> String {
        self.parts += 1;
        if self.depth >= DEPTH_MAX || self.parts > PARTS_MAX {
            return "any".to_owned();
        }
        self.depth += 1;
        let lua = match reference(schema) {
            Some(reference) => self.referred(reference),
            None => self.own(schema),
        };
        self.depth -= 1;
        lua
    }

    fn referred(&mut self, reference: &str) -> String {
        if let Some(class) = self.classes.get(reference) {
            return class.clone();
        }
        let Some(schema) = target(self.root, reference) else { return "any".to_owned() };
        let has_fields = merged(self.root, schema).get("properties").is_some();
        if let Some(prefix) = &self.prefix
            && has_fields
            && self.classes.len() < CLASSES_MAX
        {
            let class = self.class_name(prefix, reference);
            self.classes.insert(reference.to_owned(), class.clone());
            return class;
        }
        if self.open.iter().any(|open| open == reference) {
            return if has_fields { "table".to_owned() } else { "any".to_owned() };
        }
        self.open.push(reference.to_owned());
        let lua = self.of(schema);
        self.open.pop();
        lua
    }

    /// The last part of the reference as a word that no other class of this schema has.
    fn class_name(&self, prefix: &str, reference: &str) -> String {
        let last = reference.rsplit('/').next().unwrap_or_default();
        let word: String = last.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let plain = format!("{prefix}.{word}");
        let is_free = |class: &String| !self.classes.values().any(|other| other == class);
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        std::iter::once(plain.clone()).chain(numbered).find(is_free).unwrap_or(plain)
    }

    fn own(&mut self, schema: &Json) -> String {
        let schema = merged(self.root, schema);
        if let Some(value) = schema.get("const") {
            return literal(value);
        }
        if let Some(values) = schema.get("enum").and_then(Json::as_array) {
            return union(values.iter().map(literal));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(schemas) = schema.get(key).and_then(Json::as_array) {
                let types: Vec<String> = schemas.iter().map(|schema| self.of(schema)).collect();
                return union(types.into_iter());
            }
        }
        match schema.get("type") {
            Some(Json::String(name)) => self.named(name, &schema),
            Some(Json::Array(names)) => {
                let names = names.iter().filter_map(Json::as_str);
                let types: Vec<String> = names.map(|name| self.named(name, &schema)).collect();
                union(types.into_iter())
            }
            _ if schema.get("properties").is_some() => self.named("object", &schema),
            _ => "any".to_owned(),
        }
    }

    fn named(&mut self, name: &str, schema: &Json) -> String {
        match name {
            "null" => "nil".to_owned(),
            "array" => match schema.get("items").map(|items| self.of(items)) {
                None => "any[]".to_owned(),
                Some(item) if item.contains('|') => format!("({item})[]"),
                Some(item) => format!("{item}[]"),
            },
            "object" => self.table(schema),
            other => one_line(other),
        }
    }

    fn table(&mut self, schema: &Json) -> String {
        if let Some(properties) = schema.get("properties").and_then(Json::as_object)
            && !properties.is_empty()
        {
            let required = required_of(schema);
            let mut fields: Vec<String> = Vec::new();
            for (name, property) in properties {
                let optional = if required.contains(&name.as_str()) { "" } else { "?" };
                fields.push(format!("{}{optional}: {}", key(name), self.of(property)));
            }
            fields.extend(self.others_of(schema).map(|others| format!("[string]: {others}")));
            return format!("{{ {} }}", fields.join(", "));
        }
        match schema.get("additionalProperties") {
            Some(values @ Json::Object(members)) if !members.is_empty() => {
                format!("table<string, {}>", self.of(values))
            }
            _ => "table<string, any>".to_owned(),
        }
    }

    /// The type of further members, where the schema itself allows them.
    fn others_of(&mut self, schema: &Json) -> Option<String> {
        match schema.get("additionalProperties") {
            None | Some(Json::Bool(false)) => None,
            Some(Json::Bool(true)) => Some("any".to_owned()),
            Some(others) => Some(self.of(others)),
        }
    }
}

fn union(types: impl Iterator<Item = String>) -> String {
    let mut names: Vec<String> = Vec::new();
    for name in types {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    if names.is_empty() { "any".to_owned() } else { names.join("|") }
}

fn literal(value: &Json) -> String {
    match value {
        Json::Null => "nil".to_owned(),
        Json::String(text) => super::stub::quoted(text),
        other => one_line(&other.to_string()),
    }
}

fn bounds(schema: &Json) -> Option<String> {
    match (schema.get("minimum"), schema.get("maximum")) {
        (Some(least), Some(most)) => Some(format!("{least} to {most}")),
        (Some(least), None) => Some(format!("at least {least}")),
        (None, Some(most)) => Some(format!("at most {most}")),
        (None, None) => None,
    }
}

fn required_of(schema: &Json) -> Vec<&str> {
    let names = schema.get("required").and_then(Json::as_array);
    names.into_iter().flatten().filter_map(Json::as_str).collect()
}
