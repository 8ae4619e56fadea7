//! A tool as a LuaCATS stub, for the planner and for people.
//!
//! One class per tool lists the parameters once, with their documentation; the function takes
//! that class, and its overload shows the order of positional arguments.

use std::fmt::Write as _;

use serde_json::Value as Json;

use super::lua_types::LuaTypes;
use super::seen::in_text;
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
    together(catalog, PREAMBLE, ToolSpec::stub)
}

/// Stubs for a prompt, in the catalog's order: see [`ToolSpec::prompt_stub`]. The prompt says what a failed call returns.
#[must_use]
pub fn prompt_stubs(catalog: &Catalog) -> String {
    together(catalog, "", ToolSpec::prompt_stub)
}

fn together(catalog: &Catalog, preamble: &str, stub: impl Fn(&ToolSpec) -> String) -> String {
    let mut text = preamble.to_owned();
    let mut servers: Vec<&str> = Vec::new();
    for spec in catalog.iter() {
        if let Some((server, _)) = spec.name.split_once('.')
            && !servers.contains(&server)
        {
            servers.push(server);
            let _ = write!(text, "\n{server} = {{}}\n");
        }
        text.push('\n');
        text.push_str(&stub(spec));
    }
    text
}

impl ToolSpec {
    /// The tool as a LuaCATS stub: valid Lua that declares the function and its types.
    #[must_use]
    pub fn stub(&self) -> String {
        let mut text = String::new();
        let mut results = LuaTypes::with_classes(&self.result, &format!("{}.result", self.name));
        let mut result = results.whole(&self.result, &mut text);
        results.write_classes(&mut text);
        // The arguments decide.
        if self.result_schema_parameter().is_some() {
            "any".clone_into(&mut result);
        }
        let parameters: Vec<(&str, &Json)> = self.parameters().collect();
        let class = format!("{}.params", self.name);
        let mut types = LuaTypes::with_classes(&self.params, &class);
        if !parameters.is_empty() {
            let _ = writeln!(text, "---@class {class}");
            for (name, schema) in &parameters {
                text.push_str(&types.field(name, schema, self.is_required(name)));
            }
            types.write_classes(&mut text);
        }
        self.describe(&mut text);
        if parameters.is_empty() {
            let _ = writeln!(text, "---@return {result}|ToolError");
            let _ = writeln!(text, "function {}() end", self.name);
            return text;
        }
        let row: Vec<String> = parameters
            .iter()
            .map(|(name, schema)| {
                let optional = if self.is_required(name) { "" } else { "?" };
                format!("{}{optional}: {}", identifier(name), types.of(schema))
            })
            .collect();
        let _ = writeln!(text, "---@overload fun({}): {result}|ToolError", row.join(", "));
        let _ = writeln!(text, "---@param params {class}");
        let _ = writeln!(text, "---@return {result}|ToolError");
        let _ = writeln!(text, "function {}(params) end", self.name);
        text
    }

    /// The tool in the fewest words that tell all of it: each parameter once, in the order of positional arguments.
    #[must_use]
    pub fn prompt_stub(&self) -> String {
        let mut text = String::new();
        let result = match self.seen_result(&mut text) {
            Some(seen) => seen,
            None => {
                let mut results = LuaTypes::with_classes(&self.result, &format!("{}.result", self.name));
                let result = results.whole(&self.result, &mut text);
                results.write_classes(&mut text);
                format!("{result}|ToolError")
            }
        };
        let mut types = LuaTypes::with_classes(&self.params, &format!("{}.params", self.name));
        let parameters: Vec<String> = self
            .parameters()
            .map(|(name, schema)| types.parameter(name, schema, self.is_required(name)))
            .collect();
        types.write_classes(&mut text);
        self.describe(&mut text);
        text.push_str(&parameters.concat());
        let names: Vec<String> = self.parameters().map(|(name, _)| identifier(name)).collect();
        let _ = writeln!(text, "---@return {result}");
        let _ = writeln!(text, "function {}({}) end", self.name, names.join(", "));
        text
    }

    /// What its results were seen to hold, as comments of valid Lua; `None` where nothing is known.
    #[must_use]
    pub fn seen_stub(&self) -> Option<String> {
        let mut text = String::new();
        let result = self.seen_result(&mut text)?;
        let _ = writeln!(text, "---@return {result}");
        Some(text)
    }

    /// The type of what was seen, marked as such, with its classes written to `text`.
    fn seen_result(&self, text: &mut String) -> Option<String> {
        let schema = self.seen.as_ref()?;
        let held = in_text(schema);
        let seen = LuaTypes::with_classes(held, &format!("{}.seen", self.name)).whole(held, text);
        Some(if schema == held {
            format!("{seen}|ToolError -- seen")
        } else {
            format!("string|ToolError -- seen: JSON text of {seen}")
        })
    }

    fn describe(&self, text: &mut String) {
        for line in self.description.lines() {
            let _ = writeln!(text, "---{}", one_line(line));
        }
        let repeat = if self.idempotent { "safe to repeat" } else { "not safe to repeat" };
        let _ = writeln!(text, "---Effect: {}; {repeat}.", self.effect.as_str());
    }

    /// The type of the parameter `name`, on one line.
    #[must_use]
    pub fn parameter_type(&self, name: &str) -> Option<String> {
        self.parameter(name).map(|schema| LuaTypes::inline(&self.params).of(schema))
    }
}

/// A literal type. LuaCATS has no escapes, so text it cannot hold is just a string.
pub(super) fn quoted(text: &str) -> String {
    let text = one_line(text);
    match (text.contains(['\\', '"']), text.contains(['\\', '\''])) {
        (false, _) => format!("\"{text}\""),
        (true, false) => format!("'{text}'"),
        (true, true) => "string".to_owned(),
    }
}

/// A field name, in brackets where Lua could not write it bare.
pub(super) fn key(name: &str) -> String {
    if is_lua_identifier(name) { name.to_owned() } else { format!("[{}]", quoted(name)) }
}

/// A parameter name that Lua can take; the overload only shows order and type.
fn identifier(name: &str) -> String {
    if is_lua_identifier(name) {
        return name.to_owned();
    }
    let mut safe: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    safe.insert(0, '_');
    safe
}

/// Whether Lua 5.4 takes `name` as a name: ASCII letters, digits and `_`, none of its reserved words.
#[must_use]
pub fn is_lua_identifier(name: &str) -> bool {
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
pub(super) fn one_line(text: &str) -> String {
    text.split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
