//! The body of a request.

use serde_json::{Map, Value as Json, json};

use luaplan_catalog::accepts;

use super::document::Document;
use super::parameters::ToolParameters;
use super::schema::{Converter, Direction, says_kind};

/// The parameter that is a body as a whole.
const WHOLE: &str = "body";

/// What goes into the manifest.
#[derive(Debug)]
pub(super) struct ImportedBody {
    /// `body` of the settings.
    pub(super) setting: Json,
    /// The content type, where it is not the one the kind sends by itself.
    pub(super) content_type: Option<String>,
}

/// Takes the body an operation wants, if it wants one.
///
/// # Errors
/// In words, where there has to be one and none can be sent.
pub(super) fn take(
    document: &Document,
    method: &str,
    operation: &Json,
    parameters: &mut ToolParameters,
    notes: &mut Vec<String>,
) -> Result<Option<ImportedBody>, String> {
    let Some(body) = operation.get("requestBody") else { return Ok(None) };
    let body = document.resolved(body)?;
    let required = body.get("required") == Some(&Json::Bool(true));
    let taken = if matches!(method, "GET" | "HEAD") {
        Err(format!("{method} has no body in a manifest"))
    } else {
        one(document, body, required, parameters, notes)
    };
    match taken {
        Ok(body) => Ok(Some(body)),
        Err(reason) if required => Err(format!("its body: {reason}")),
        Err(reason) => {
            notes.push(format!("left out: the body: {reason}"));
            Ok(None)
        }
    }
}

fn one(
    document: &Document,
    body: &Json,
    required: bool,
    parameters: &mut ToolParameters,
    notes: &mut Vec<String>,
) -> Result<ImportedBody, String> {
    let content = body.get("content").and_then(Json::as_object).ok_or("it says nothing of its content")?;
    let found = |wanted: fn(&str) -> bool| content.iter().find(|(name, _)| wanted(&media_type(name)));
    let form = |name: &str| name == "application/x-www-form-urlencoded";
    let media = found(is_json).or_else(|| found(form)).or_else(|| found(|name| name == "text/plain"));
    let Some((name, media)) = media else {
        let names: Vec<&str> = content.keys().map(String::as_str).collect();
        return Err(format!("it is {}; JSON, a form of texts and plain text can be sent", names.join(", ")));
    };
    let mut converter = Converter::new(document, Direction::Sent);
    let schema = converter.convert(media.get("schema").unwrap_or(&json!({})))?;
    notes.append(&mut converter.notes);
    let name = media_type(name);
    if is_json(&name) {
        let content_type = (name != "application/json").then_some(name);
        return Ok(ImportedBody { setting: json_body(schema, required, parameters)?, content_type });
    }
    if form(&name) {
        return Ok(ImportedBody {
            setting: form_body(schema, required, media, parameters)?,
            content_type: None,
        });
    }
    if says_kind(&schema) && (accepts(&schema, "object") || accepts(&schema, "array")) {
        return Err("it is plain text, and its schema a list or an object".to_owned());
    }
    if !required {
        // A manifest's text body always has its argument.
        return Err("it is plain text that may be left out".to_owned());
    }
    let given = parameters.add(WHOLE, WHOLE, schema, true)?;
    Ok(ImportedBody { setting: json!({ "text": format!("{{{given}}}") }), content_type: None })
}

/// Each member is a parameter where the schema lists them all; else the body is one.
fn json_body(mut schema: Json, required: bool, parameters: &mut ToolParameters) -> Result<Json, String> {
    if let Some(members) = listed_members(&schema).filter(|_| required)
        && parameters.has_none_of(members.keys())
    {
        let members = members.clone();
        let places = add_members(&schema, members, parameters)?;
        return Ok(json!({ "json": places }));
    }
    if schema.get("description").is_none()
        && let Some(members) = schema.as_object_mut()
    {
        members.insert("description".to_owned(), "The body.".into());
    }
    let given = parameters.add(WHOLE, WHOLE, schema, required)?;
    Ok(json!({ "json": format!("{{{given}}}") }))
}

fn form_body(
    schema: Json,
    required: bool,
    media: &Json,
    parameters: &mut ToolParameters,
) -> Result<Json, String> {
    if media.get("encoding").is_some_and(|encoding| encoding.as_object().is_some_and(|all| !all.is_empty())) {
        return Err("it is a form with rules of its own (`encoding`)".to_owned());
    }
    let members = listed_members(&schema).cloned().ok_or("it is a form whose members are not all listed")?;
    for (name, member) in &members {
        let of_lists =
            |items: &Json| says_kind(items) && (accepts(items, "array") || accepts(items, "object"));
        if says_kind(member) && (accepts(member, "object") || member.get("items").is_some_and(of_lists)) {
            return Err(format!(
                "it is a form, and its member `{name}` may be more than text or a list of texts"
            ));
        }
    }
    let mut schema = schema;
    if !required && let Some(schema) = schema.as_object_mut() {
        // No member of an optional body is required.
        schema.shift_remove("required");
    }
    Ok(json!({ "form": add_members(&schema, members, parameters)? }))
}

/// The members of an object whose schema only lists them.
fn listed_members(schema: &Json) -> Option<&Map<String, Json>> {
    const TAKEN: [&str; 5] = ["type", "properties", "required", "description", "additionalProperties"];
    let keys = schema.as_object()?;
    let lists_all = keys.keys().all(|key| TAKEN.contains(&key.as_str()))
        && keys.get("type").is_none_or(|kind| kind == "object")
        // Members by any name could not be given one by one.
        && !keys.get("additionalProperties").is_some_and(|others| *others != Json::Bool(false));
    schema.get("properties").and_then(Json::as_object).filter(|members| lists_all && !members.is_empty())
}

fn add_members(
    schema: &Json,
    members: Map<String, Json>,
    parameters: &mut ToolParameters,
) -> Result<Map<String, Json>, String> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Json::as_array)
        .into_iter()
        .flatten()
        .filter_map(Json::as_str)
        .collect();
    let mut places = Map::new();
    for (name, member) in members {
        let needed = required.contains(&name.as_str());
        let given = parameters.add(&name, WHOLE, member, needed)?;
        places.insert(name, format!("{{{given}}}").into());
    }
    Ok(places)
}

/// A media type without its parameters.
pub(super) fn media_type(text: &str) -> String {
    text.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// Whether a media type is JSON.
pub(super) fn is_json(name: &str) -> bool {
    name == "application/json" || (name.starts_with("application/") && name.ends_with("+json"))
}
