//! The schemas of single values in the description: their formats and bounds.
//!
//! Parameters and members of the same name have the same schema everywhere, so schemas go by name.

use serde_json::json;
use utoipa::openapi::path::{Operation, ParameterIn};
use utoipa::openapi::schema::SchemaFormat;
use utoipa::openapi::{Object, OpenApi, RefOr, Schema};

/// The schema of any JSON value.
const ANYTHING: &str = "#/components/schemas/Value";

/// Bounds of the header `Idempotency-Key`.
const KEY_LENGTH_MAX: usize = 255;

/// Writes the schemas into the description.
pub(super) fn add(document: &mut OpenApi) {
    for (path, item) in &mut document.paths.paths {
        for operation in [&mut item.get, &mut item.post].into_iter().flatten() {
            parameters(path, operation);
        }
    }
    let Some(components) = &mut document.components else { return };
    for (name, schema) in &mut components.schemas {
        let RefOr::T(Schema::Object(body)) = schema else { continue };
        for (member, schema) in &mut body.properties {
            plain_anything(schema);
            if let RefOr::T(Schema::Object(value)) = schema {
                form(name, member, value);
            }
        }
    }
}

/// Optional parameters are omitted, never null.
fn parameters(path: &str, operation: &mut Operation) {
    for parameter in operation.parameters.iter_mut().flatten() {
        let RefOr::T(parameter) = parameter else { continue };
        let Some(RefOr::T(Schema::Object(value))) = &mut parameter.schema else { continue };
        match (&parameter.parameter_in, parameter.name.as_str()) {
            (ParameterIn::Path, "id") if path.starts_with("/v1/runs/") => uuid(value),
            (_, name) => form(path, name, value),
        }
    }
}

/// "Any value or null" is any value: in a `oneOf`, null would match both, and so fail.
fn plain_anything(schema: &mut RefOr<Schema>) {
    let RefOr::T(Schema::OneOf(either)) = schema else { return };
    let anything =
        either.items.iter().find(|one| matches!(one, RefOr::Ref(one) if one.ref_location == ANYTHING));
    if let Some(anything) = anything.cloned() {
        *schema = anything;
    }
}

/// The schema of a value by its name, and in a few cases by its parent.
fn form(place: &str, name: &str, value: &mut Object) {
    match (place, name) {
        ("/v1/audit", "limit") => between(value, 1, 1000),
        (_, "limit") if place.starts_with('/') => between(value, 1, 500),
        (_, "candidates") => between(value, 1, 8),
        (_, "max_iterations") => between(value, 1, 1000),
        ("Problem", "status") => between(value, 400, 599),
        (_, "run" | "before") => uuid(value),
        (_, "since" | "until") => value.format = Some(SchemaFormat::Custom("date-time".to_owned())),
        (_, "wait" | "for") => {
            value.examples = vec![json!("30s")];
            value.min_length = Some(2);
        }
        ("/v1/runs", "status") => one_of(value, "running|sleeping|paused|succeeded|failed|cancelled"),
        (_, "outcome") => one_of(value, "ok|failed"),
        (_, "format") => one_of(value, "json|mermaid|dot|svg"),
        (_, "mode") => one_of(value, "structured|autonomous"),
        (_, "decision") => one_of(value, "once|for|edit|deny"),
        ("RunBody" | "ExplainBody", "name") => (value.min_length, value.max_length) = (Some(1), Some(128)),
        (_, "context_name") => {
            (value.min_length, value.max_length) = (Some(1), Some(64));
            value.pattern = Some("^[A-Za-z0-9._-]+$".to_owned());
        }
        (_, "task") => value.pattern = Some("\\S".to_owned()),
        (_, "Idempotency-Key") => {
            (value.min_length, value.max_length) = (Some(1), Some(KEY_LENGTH_MAX));
            value.pattern = Some("^[\\x20-\\x7e]+$".to_owned());
        }
        ("Problem", "type") => value.pattern = Some("^urn:luaplan:error:[a-z0-9_]+$".to_owned()),
        ("Problem", "code") => value.pattern = Some("^[a-z0-9_]+$".to_owned()),
        (_, "path") => value.pattern = Some("^(/.*)?$".to_owned()),
        _ => {}
    }
}

fn uuid(value: &mut Object) {
    value.format = Some(SchemaFormat::Custom("uuid".to_owned()));
}

fn between(value: &mut Object, least: i64, most: i64) {
    (value.minimum, value.maximum) = (Some(least.into()), Some(most.into()));
}

fn one_of(value: &mut Object, names: &str) {
    value.pattern = Some(format!("^({names})$"));
}
