//! A shape as LuaCATS classes, for the typed check.

use std::fmt::Write as _;

use indexmap::IndexMap;

use super::{ITEMS_MAX, Member, Shape};

/// Declarations of the class `name` and of those inside it.
pub(super) fn declared(members: &IndexMap<String, Member>, name: &str) -> String {
    let mut classes = Vec::new();
    object(members, name, &mut classes);
    classes.concat()
}

fn object(members: &IndexMap<String, Member>, name: &str, classes: &mut Vec<String>) -> String {
    let mut text = format!("---@class {name}\n");
    let mut open = false;
    for (place, (key, member)) in members.iter().enumerate() {
        // A key may contain any character, so the inner class is named by its position.
        let inner = type_of(&member.shape, &format!("{name}.m{place}"), classes);
        let optional = if member.optional { "?" } else { "" };
        match field(key) {
            Some(field) => {
                let _ = writeln!(text, "---@field {field}{optional} {inner}");
            }
            None => open = true,
        }
    }
    if open {
        text.push_str("---@field [string] any\n");
    }
    text.push('\n');
    classes.push(text);
    name.to_owned()
}

fn type_of(shape: &Shape, name: &str, classes: &mut Vec<String>) -> String {
    match shape {
        Shape::Plain("string (bytes)") => "string".to_owned(),
        Shape::Plain(plain) => (*plain).to_owned(),
        Shape::Deep(_) => "any".to_owned(),
        Shape::List { items, count } => match items.as_ref() {
            Some(items) if *count <= ITEMS_MAX => format!("({})[]", type_of(items, name, classes)),
            _ => "any[]".to_owned(),
        },
        Shape::Map { values, count } => match values.as_ref() {
            Some(values) if *count <= ITEMS_MAX => {
                format!("table<string, {}>", type_of(values, name, classes))
            }
            _ => "table<string, any>".to_owned(),
        },
        Shape::Object { members } if members.is_empty() => "table".to_owned(),
        Shape::Object { members } => object(members, name, classes),
        Shape::Either(shapes) => {
            let types = shapes.iter().enumerate();
            let types = types.map(|(place, shape)| type_of(shape, &format!("{name}.e{place}"), classes));
            format!("({})", types.collect::<Vec<_>>().join("|"))
        }
    }
}

/// A key as LuaCATS writes it; nothing for one it cannot write, which then counts as open.
fn field(key: &str) -> Option<String> {
    let plain = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    match plain {
        true => Some(key.to_owned()),
        false if key.chars().any(|c| c.is_control() || matches!(c, '"' | '\\')) || key.is_empty() => None,
        false => Some(format!("[\"{key}\"]")),
    }
}
