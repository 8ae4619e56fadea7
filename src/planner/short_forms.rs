//! Answers that need no program of their own: one call, or a sentence. Each becomes the plan it stands for, which is
//! checked, shown and journaled like any other.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json};

use luaplan_catalog::is_lua_identifier;

/// The program that a short answer stands for: `{"direct": {"tool": …, "arguments": {…}}}` or `{"answer": …}`.
pub(super) fn plan_of(answer: &Map<String, Json>) -> Option<String> {
    if let Some(direct) = answer.get("direct") {
        return Some(with_body(&format!("return {}", call(direct)?)));
    }
    answer
        .get("answer")
        .filter(|said| !said.is_null())
        .map(|said| with_body(&format!("return {}", literal(said))))
}

/// The program where its text is but what `run` returns. A chunk that begins with `return` holds that one statement
/// and no more, by Lua's grammar.
pub(super) fn whole(source: String) -> String {
    let is_return = source
        .trim_start()
        .strip_prefix("return")
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'));
    if is_return { with_body(source.trim()) } else { source }
}

fn with_body(body: &str) -> String {
    // The lines of a long string would change by an indentation.
    let indent = if body.contains("[[") || body.contains("[=") { "" } else { "  " };
    let lines: Vec<String> =
        body.lines().map(|line| format!("{indent}{line}").trim_end().to_owned()).collect();
    format!("function run(context)\n{}\nend\n", lines.join("\n"))
}

fn call(direct: &Json) -> Option<String> {
    let tool = direct.get("tool")?.as_str()?.trim();
    // Anything but a name is no call, and could be any program.
    if !tool.split('.').all(is_lua_identifier) {
        return None;
    }
    match direct.get("arguments") {
        None | Some(Json::Null) => Some(format!("{tool}()")),
        Some(Json::Object(arguments)) => Some(format!("{tool}{}", table(arguments))),
        Some(_) => None,
    }
}

/// A JSON value as Lua writes it.
fn literal(value: &Json) -> String {
    match value {
        Json::Null => "null".to_owned(),
        Json::Bool(_) | Json::Number(_) => value.to_string(),
        Json::String(text) => quoted(text),
        Json::Array(items) => format!("{{{}}}", items.iter().map(literal).collect::<Vec<_>>().join(", ")),
        // An empty table is a list.
        Json::Object(members) if members.is_empty() => "json.object()".to_owned(),
        Json::Object(members) => table(members),
    }
}

fn table(members: &Map<String, Json>) -> String {
    // What is null is as if it were not given.
    let given = members.iter().filter(|(_, value)| !value.is_null());
    let fields = given.map(|(name, value)| match is_lua_identifier(name) {
        true => format!("{name} = {}", literal(value)),
        false => format!("[{}] = {}", quoted(name), literal(value)),
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            // Three digits, as a digit may follow.
            c if c.is_ascii_control() => drop(write!(quoted, "\\{:03}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
