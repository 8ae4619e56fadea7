//! The answers of an operation.

use serde_json::{Value as Json, json};

use super::body::{is_json, media_type};
use super::document::Document;
use super::schema::{Converter, Direction};

/// The schema of a result goes into prompts: a larger one is omitted.
const RESULT_BYTES_MAX: usize = 16 * 1024;

/// What goes into the manifest.
#[derive(Debug)]
pub(super) struct OperationAnswer {
    /// Whether it is text, or bytes where it is no text; else JSON.
    pub(super) is_text: bool,
    /// The `Accept` header.
    pub(super) accept: Option<String>,
    /// Its schema; nothing where anything may come.
    pub(super) result: Option<Json>,
}

/// Reads the successful answers of an operation. Unknown parts are noted, and results are not checked
/// against them.
///
/// # Errors
/// In words, where some answers are JSON and others are not.
pub(super) fn take(
    document: &Document,
    operation: &Json,
    notes: &mut Vec<String>,
) -> Result<OperationAnswer, String> {
    let responses = operation.get("responses").and_then(Json::as_object);
    let mut schemas: Vec<Json> = Vec::new();
    let mut json_type: Option<String> = None;
    let mut other_type: Option<String> = None;
    let mut all_known = true;
    let mut declared = false;
    for (status, response) in responses.into_iter().flatten() {
        if !status.starts_with('2') {
            continue;
        }
        let response = document.resolved(response)?;
        let Some(content) = response.get("content").and_then(Json::as_object).filter(|all| !all.is_empty())
        else {
            schemas.push(json!({ "type": "null" }));
            continue;
        };
        declared = true;
        match content.iter().find(|(name, _)| is_json(&media_type(name))) {
            Some((name, media)) => {
                json_type.get_or_insert_with(|| media_type(name));
                match media.get("schema").map(|schema| known(document, schema, notes)) {
                    Some(Some(schema)) if !schemas.contains(&schema) => schemas.push(schema),
                    Some(Some(_)) => {}
                    Some(None) | None => all_known = false,
                }
            }
            None => other_type = content.keys().next().map(|name| media_type(name)),
        }
    }
    if let (Some(json), Some(other)) = (&json_type, &other_type) {
        return Err(format!("it answers with `{json}` or with `{other}`, and a manifest reads one of them"));
    }
    if other_type.is_some() {
        return Ok(OperationAnswer {
            is_text: true,
            accept: other_type.filter(|name| name != "*/*"),
            result: None,
        });
    }
    if !declared {
        notes.push(
            "the document does not say what it answers with: an answer that is not JSON fails".to_owned(),
        );
        return Ok(OperationAnswer { is_text: false, accept: None, result: None });
    }
    let result = match schemas.len() {
        _ if !all_known => None,
        0 | 1 => schemas.pop(),
        _ => Some(json!({ "anyOf": schemas })),
    };
    Ok(OperationAnswer { is_text: false, accept: json_type, result })
}

fn known(document: &Document, schema: &Json, notes: &mut Vec<String>) -> Option<Json> {
    let mut converter = Converter::new(document, Direction::Received);
    let converted = converter.convert(schema).and_then(|schema| {
        let size = schema.to_string().len();
        if size > RESULT_BYTES_MAX {
            return Err(format!("its schema has {size} bytes, more than {RESULT_BYTES_MAX}"));
        }
        Ok(schema)
    });
    match converted {
        Ok(schema) => {
            notes.append(&mut converter.notes);
            Some(schema).filter(|schema| *schema != json!({}))
        }
        Err(reason) => {
            notes.push(format!("left out: the check of the answer: {reason}"));
            None
        }
    }
}
