//! A tool as a LuaCATS stub, for the planner and for people.
//!
//! One class per tool lists the parameters once, with their documentation; the function takes
//! that class, and its overload shows the order of positional arguments.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::{Catalog, ToolSpec};

/// What every failed call returns, once for all tools.
const PREAMBLE: &str = "\
---What a failed call returns in place of its result. Test `result.error` before any other use.
---@class ToolError
---@field error string what happened
---@field code string stable reason, for example \"rate_limited\"
---@field retryable boolean whether the same call may succeed later
";

/// Stubs of every tool, in the catalog's order, as one valid Lua text.
#[must_use]
pub fn stubs(catalog: &Catalog) -> String {
    let mut text = PREAMBLE.to_owned();
    let mut servers: Vec<&str> = Vec::new();
    for spec in catalog.iter() {
        if let Some((server, _)) = spec.name.split_once('.')
            && !servers.contains(&server)
        {
            servers.push(server);
            let _ = write!(text, "\n{server} = {{}}\n");
        }
        text.push('\n');
        text.push_str(&spec.stub());
    }
    text
}

impl ToolSpec {
    /// The tool as a LuaCATS stub: valid Lua that declares the function and its types.
    #[must_use]
    pub fn stub(&self) -> String {
        let mut text = String::new();
        let result = self.result_class(&mut text);
        let parameters: Vec<(&str, &Json)> = self.parameters().collect();
        let class = format!("{}.params", self.name);
        if !parameters.is_empty() {
            let _ = writeln!(text, "---@class {class}");
            for (name, schema) in &parameters {
                text.push_str(&field(name, schema, self.is_required(name)));
            }
        }
        for line in self.description.lines() {
            let _ = writeln!(text, "---{}", one_line(line));
        }
        let repeat = if self.idempotent { "safe to repeat" } else { "not safe to repeat" };
        let _ = writeln!(text, "---Effect: {}; {repeat}.", self.effect.as_str());
        if parameters.is_empty() {
            let _ = writeln!(text, "---@return {result}|ToolError");
            let _ = writeln!(text, "function {}() end", self.name);
            return text;
        }
        let row: Vec<String> = parameters
            .iter()
            .map(|(name, schema)| {
                let optional = if self.is_required(name) { "" } else { "?" };
                format!("{}{optional}: {}", identifier(name), lua_type(schema))
            })
            .collect();
        let _ = writeln!(text, "---@overload fun({}): {result}|ToolError", row.join(", "));
        let _ = writeln!(text, "---@param params {class}");
        let _ = writeln!(text, "---@return {result}|ToolError");
        let _ = writeln!(text, "function {}(params) end", self.name);
        text
    }

    /// The result's type; an object result gets a class of its own.
    fn result_class(&self, text: &mut String) -> String {
        let (schema, suffix) = match self.result.get("items") {
            Some(items) if self.result.get("type").is_some_and(|kind| kind == "array") => (items, "[]"),
            _ => (&self.result, ""),
        };
        let Some(properties) = schema.get("properties").and_then(Json::as_object) else {
            return lua_type(&self.result);
        };
        let class = format!("{}.result", self.name);
        let _ = writeln!(text, "---@class {class}");
        let required = required_of(schema);
        for (name, schema) in properties {
            text.push_str(&field(name, schema, required.contains(&name.as_str())));
        }
        if let Some(others) = others_of(schema) {
            let _ = writeln!(text, "---@field [string] {others}");
        }
        class + suffix
    }
}

/// A JSON Schema as a LuaCATS type, on one line.
#[must_use]
pub fn lua_type(schema: &Json) -> String {
    if let Some(value) = schema.get("const") {
        return literal(value);
    }
    if let Some(values) = schema.get("enum").and_then(Json::as_array) {
        return union(values.iter().map(literal));
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(schemas) = schema.get(key).and_then(Json::as_array) {
            return union(schemas.iter().map(lua_type));
        }
    }
    match schema.get("type") {
        Some(Json::String(name)) => named_type(name, schema),
        Some(Json::Array(names)) => {
            union(names.iter().filter_map(Json::as_str).map(|name| named_type(name, schema)))
        }
        _ if schema.get("properties").is_some() => named_type("object", schema),
        _ => "any".to_owned(),
    }
}

fn named_type(name: &str, schema: &Json) -> String {
    match name {
        "null" => "nil".to_owned(),
        "array" => match schema.get("items").map(lua_type) {
            None => "any[]".to_owned(),
            Some(item) if item.contains('|') => format!("({item})[]"),
            Some(item) => format!("{item}[]"),
        },
        "object" => table_type(schema),
        other => one_line(other),
    }
}

fn table_type(schema: &Json) -> String {
    if let Some(properties) = schema.get("properties").and_then(Json::as_object)
        && !properties.is_empty()
    {
        let required = required_of(schema);
        let others = others_of(schema).map(|others| format!("[string]: {others}"));
        let fields: Vec<String> = properties
            .iter()
            .map(|(name, schema)| {
                let optional = if required.contains(&name.as_str()) { "" } else { "?" };
                format!("{}{optional}: {}", key(name), lua_type(schema))
            })
            .chain(others)
            .collect();
        return format!("{{ {} }}", fields.join(", "));
    }
    match schema.get("additionalProperties") {
        Some(values @ Json::Object(members)) if !members.is_empty() => {
            format!("table<string, {}>", lua_type(values))
        }
        _ => "table<string, any>".to_owned(),
    }
}

/// The type of further members, where the schema itself allows them.
fn others_of(schema: &Json) -> Option<String> {
    match schema.get("additionalProperties") {
        None | Some(Json::Bool(false)) => None,
        Some(Json::Bool(true)) => Some("any".to_owned()),
        Some(others) => Some(lua_type(others)),
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
        Json::String(text) => quoted(text),
        other => one_line(&other.to_string()),
    }
}

/// A literal type. LuaCATS has no escapes, so text it cannot hold is just a string.
fn quoted(text: &str) -> String {
    let text = one_line(text);
    match (text.contains(['\\', '"']), text.contains(['\\', '\''])) {
        (false, _) => format!("\"{text}\""),
        (true, false) => format!("'{text}'"),
        (true, true) => "string".to_owned(),
    }
}

fn field(name: &str, schema: &Json, required: bool) -> String {
    let optional = if required { "" } else { "?" };
    let mut line = format!("---@field {}{optional} {}", key(name), lua_type(schema));
    if let Some(description) = schema.get("description").and_then(Json::as_str) {
        let _ = write!(line, " {}", one_line(description));
    }
    if let Some(bounds) = bounds(schema) {
        let _ = write!(line, " ({bounds})");
    }
    if let Some(default) = schema.get("default") {
        let _ = write!(line, " (default {})", literal(default));
    }
    line.push('\n');
    line
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

/// A field name, in brackets where Lua could not write it bare.
fn key(name: &str) -> String {
    if is_identifier(name) { name.to_owned() } else { format!("[{}]", quoted(name)) }
}

/// A parameter name that Lua can take; the overload only shows order and type.
fn identifier(name: &str) -> String {
    if is_identifier(name) {
        return name.to_owned();
    }
    let mut safe: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    safe.insert(0, '_');
    safe
}

fn is_identifier(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !is_lua_keyword(name)
}

/// Whether `name` is one of Lua 5.4's reserved words.
#[must_use]
pub fn is_lua_keyword(name: &str) -> bool {
    const KEYWORDS: [&str; 22] = [
        "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
        "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
    ];
    KEYWORDS.contains(&name)
}

/// Text for a comment: one line without control characters, as a manifest may come from an untrusted source.
fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
