//! References and `allOf` of a JSON Schema, followed inside its own document and to a bounded depth.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

/// References in a row; a longer row, or a ring, is not followed to its end.
const HOPS_MAX: usize = 16;
/// `allOf` inside `allOf`.
const DEPTH_MAX: usize = 8;
/// Parts that one schema is put together from.
const PARTS_MAX: usize = 200;

/// Keywords that say nothing about the value.
const ANNOTATIONS: [&str; 7] =
    ["title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"];

/// The reference that stands for the whole schema: its own, or that of the only part of its `allOf`.
pub(super) fn reference(schema: &Json) -> Option<&str> {
    let members = schema.as_object()?;
    if let Some(reference) = members.get("$ref") {
        return reference.as_str();
    }
    let [only] = members.get("allOf")?.as_array()?.as_slice() else { return None };
    let is_alone = members.keys().all(|key| key == "allOf" || ANNOTATIONS.contains(&key.as_str()));
    if is_alone { only.get("$ref")?.as_str() } else { None }
}

/// What `reference` names in the document `root`. Other documents are never read.
pub(super) fn target<'a>(root: &'a Json, reference: &str) -> Option<&'a Json> {
    root.pointer(reference.strip_prefix('#')?)
}

/// The schema behind the references of `schema`; `schema` itself where they lead nowhere.
pub(super) fn followed<'a>(root: &'a Json, schema: &'a Json) -> &'a Json {
    let mut at = schema;
    for _ in 0..HOPS_MAX {
        match reference(at).and_then(|reference| target(root, reference)) {
            Some(next) => at = next,
            None => break,
        }
    }
    at
}

/// `schema` with the parts of its `allOf` put together.
pub(super) fn merged<'a>(root: &'a Json, schema: &'a Json) -> Cow<'a, Json> {
    let mut left = PARTS_MAX;
    merge(root, schema, 0, &mut left)
}

fn merge<'a>(root: &'a Json, schema: &'a Json, depth: usize, left: &mut usize) -> Cow<'a, Json> {
    let schema = followed(root, schema);
    let (Some(members), Some(parts)) = (schema.as_object(), schema.get("allOf").and_then(Json::as_array))
    else {
        return Cow::Borrowed(schema);
    };
    let mut whole = members.clone();
    whole.remove("allOf");
    for part in parts {
        if depth == DEPTH_MAX || *left == 0 {
            break;
        }
        *left -= 1;
        let part = merge(root, part, depth + 1, left);
        for (key, value) in part.as_object().into_iter().flatten() {
            add(&mut whole, key, value);
        }
    }
    Cow::Owned(Json::Object(whole))
}

/// Adds what one part says.
fn add(whole: &mut Map<String, Json>, key: &str, value: &Json) {
    match (key, whole.get_mut(key), value) {
        ("$defs" | "definitions", _, _) => {}
        (_, None, value) => drop(whole.insert(key.to_owned(), value.clone())),
        ("properties", Some(Json::Object(known)), Json::Object(others)) => {
            for (name, schema) in others {
                match known.get_mut(name) {
                    None => drop(known.insert(name.clone(), schema.clone())),
                    Some(own) if own == schema => {}
                    Some(own) => *own = serde_json::json!({ "allOf": [own.clone(), schema] }),
                }
            }
        }
        ("required", Some(Json::Array(known)), Json::Array(others)) => {
            let new: Vec<Json> = others.iter().filter(|name| !known.contains(name)).cloned().collect();
            known.extend(new);
        }
        // What the schema says itself, or a part before, stays.
        _ => {}
    }
}
