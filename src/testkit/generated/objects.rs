//! Objects that fit a JSON Schema.

use serde_json::{Map, Value as Json};

use super::schema::{Writer, length};
use super::words;

/// How many members an object without named ones gets.
const FREE_MEMBERS_MAX: usize = 3;

/// An object with all that is required, most of what is optional, and what else it needs.
pub(super) fn object(writer: &mut Writer<'_>, schema: &Map<String, Json>, depth: u32) -> Option<Json> {
    let empty = Map::new();
    let known = schema.get("properties").and_then(Json::as_object).unwrap_or(&empty);
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let least = length(schema, "minProperties").unwrap_or(0);
    let most = length(schema, "maxProperties").unwrap_or(usize::MAX);
    let mut wanted: Vec<&str> = Vec::new();
    for name in known.keys() {
        let is_needed = required.contains(&name.as_str());
        if is_needed || writer.has_optional(depth) && !writer.draw.once_in(4) {
            wanted.push(name);
        }
    }
    let missing = |wanted: &[&str], name: &&str| !wanted.contains(name);
    wanted.extend(required.iter().copied().filter(|name| !known.contains_key(*name)));
    for name in known.keys().map(String::as_str) {
        if wanted.len() < least && missing(&wanted, &name) {
            wanted.push(name);
        }
    }
    for (name, needed) in dependents(schema) {
        if wanted.contains(&name) {
            let absent: Vec<&str> = needed.into_iter().filter(|name| missing(&wanted, name)).collect();
            wanted.extend(absent);
        }
    }
    while wanted.len() > most {
        let optional = wanted.iter().rposition(|name| !required.contains(name))?;
        wanted.remove(optional);
    }
    let anything = Json::Bool(true);
    let further = schema.get("additionalProperties").unwrap_or(&anything);
    let mut members = Map::new();
    for name in wanted {
        let schema = known.get(name).unwrap_or(further);
        match writer.value(schema, name, depth + 1) {
            Some(value) => _ = members.insert(name.to_owned(), value),
            None if required.contains(&name) => return None,
            None => {}
        }
    }
    add_free(writer, &mut members, further, known.is_empty(), (least, most), depth)?;
    Some(Json::Object(members))
}

/// Members with arbitrary names: as many as required, or a few where there are no others.
fn add_free(
    writer: &mut Writer<'_>,
    members: &mut Map<String, Json>,
    schema: &Json,
    is_open: bool,
    (least, most): (usize, usize),
    depth: u32,
) -> Option<()> {
    if *schema == Json::Bool(false) {
        return (members.len() >= least).then_some(());
    }
    let pleasing = match is_open && writer.has_optional(depth) {
        true => 1 + writer.draw.below(FREE_MEMBERS_MAX),
        false => 0,
    };
    let count = pleasing.max(least).min(most);
    let mut number = 0;
    while members.len() < count {
        number += 1;
        let name = format!("item_{number}");
        if members.contains_key(&name) {
            continue;
        }
        let value = match schema {
            Json::Bool(_) => Json::String(words::words(&mut writer.draw)),
            schema => writer.value(schema, &name, depth + 1)?,
        };
        members.insert(name, value);
    }
    Some(())
}

/// Which members need which others.
fn dependents(schema: &Map<String, Json>) -> Vec<(&str, Vec<&str>)> {
    let listed = schema.get("dependentRequired").and_then(Json::as_object).into_iter().flatten();
    listed
        .filter_map(|(name, needed)| {
            Some((name.as_str(), needed.as_array()?.iter().filter_map(Json::as_str).collect()))
        })
        .collect()
}
