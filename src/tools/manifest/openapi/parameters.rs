//! Parameters of an operation: in the path, the query and headers.

use indexmap::IndexMap;
use serde_json::{Value as Json, json};

use luaplan_catalog::{accepts, is_lua_keyword};

use super::document::Document;
use super::schema::{Converter, DESCRIPTION_CHARACTERS_MAX, Direction, cut, says_kind};
use crate::manifest::http::HEADERS_REFUSED;

/// Headers that OpenAPI keeps for itself: a parameter of that name means nothing.
const HEADERS_IGNORED: [&str; 3] = ["accept", "content-type", "authorization"];

/// The parameters of the tool, by the names plans write, in order.
#[derive(Debug, Default)]
pub(super) struct ToolParameters(IndexMap<String, ToolParameter>);

#[derive(Debug)]
struct ToolParameter {
    schema: Json,
    required: bool,
}

impl ToolParameters {
    /// Adds one and returns its name. `place` distinguishes parameters of one name in two places.
    ///
    /// # Errors
    /// In words, where there is no name left for it.
    pub(super) fn add(
        &mut self,
        original: &str,
        place: &str,
        schema: Json,
        required: bool,
    ) -> Result<String, String> {
        let plain = argument_name(original);
        let name =
            if self.0.contains_key(&plain) { argument_name(&format!("{place}_{original}")) } else { plain };
        if name.is_empty() || self.0.contains_key(&name) {
            return Err(format!(
                "there is no name for the parameter `{original}` ({place}) beside the others"
            ));
        }
        self.0.insert(name.clone(), ToolParameter { schema, required });
        Ok(name)
    }

    /// Whether all these names are free.
    pub(super) fn has_none_of<'a>(&self, mut names: impl Iterator<Item = &'a String>) -> bool {
        names.all(|name| !self.0.contains_key(&argument_name(name)))
    }

    /// The schema of the manifest: required parameters first, as plans may pass positional arguments.
    pub(super) fn schema(self) -> Json {
        let (needed, other): (Vec<_>, Vec<_>) =
            self.0.into_iter().partition(|(_, parameter)| parameter.required);
        let required: Vec<String> = needed.iter().map(|(name, _)| name.clone()).collect();
        let properties: serde_json::Map<String, Json> =
            needed.into_iter().chain(other).map(|(name, parameter)| (name, parameter.schema)).collect();
        let mut schema = json!({ "type": "object", "additionalProperties": false });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema["properties"] = Json::Object(properties);
        schema
    }
}

/// A name of the document as plans can write it; only characters that placeholders cannot hold change.
fn argument_name(original: &str) -> String {
    let mut name = String::new();
    for c in original.chars() {
        match c {
            c if c.is_ascii_alphanumeric() || c == '_' => name.push(c),
            _ if !name.is_empty() && !name.ends_with('_') => name.push('_'),
            _ => {}
        }
    }
    let name = name.trim_end_matches('_');
    if name.is_empty() {
        return String::new();
    }
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return format!("_{name}");
    }
    if is_lua_keyword(name) { format!("{name}_") } else { name.to_owned() }
}

/// The name of a secret after that of its scheme.
pub(super) fn secret_name(scheme: &str) -> String {
    let name = argument_name(scheme).to_ascii_lowercase();
    if name.is_empty() { "api_key".to_owned() } else { name }
}

/// Where the parameters of an operation go.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Names in the path of the document, and those of the tool.
    pub(super) path: IndexMap<String, String>,
    pub(super) query: IndexMap<String, String>,
    pub(super) headers: IndexMap<String, String>,
}

/// Reads the parameters of the path item and of the operation, which override the former.
///
/// # Errors
/// In words, naming a parameter that has to be given and cannot be.
pub(super) fn take(
    document: &Document,
    item: &Json,
    operation: &Json,
    parameters: &mut ToolParameters,
    notes: &mut Vec<String>,
) -> Result<Places, String> {
    let mut declared: IndexMap<(String, String), &Json> = IndexMap::new();
    for from in [item, operation] {
        for parameter in from.get("parameters").and_then(Json::as_array).into_iter().flatten() {
            let parameter = document.resolved(parameter)?;
            let text = |key: &str| parameter.get(key).and_then(Json::as_str).unwrap_or_default().to_owned();
            declared.insert((text("in"), text("name")), parameter);
        }
    }
    let mut places = Places::default();
    for ((place, name), parameter) in declared {
        if place == "header" && HEADERS_IGNORED.contains(&name.to_ascii_lowercase().as_str()) {
            continue;
        }
        let required = place == "path" || parameter.get("required") == Some(&Json::Bool(true));
        match one(document, &place, &name, parameter, required, parameters, notes) {
            Ok(given) => {
                let to = match place.as_str() {
                    "path" => &mut places.path,
                    "query" => &mut places.query,
                    _ => &mut places.headers,
                };
                to.insert(name, given);
            }
            Err(reason) if required => return Err(format!("the parameter `{name}` ({place}): {reason}")),
            Err(reason) => notes.push(format!("left out: the parameter `{name}` ({place}): {reason}")),
        }
    }
    Ok(places)
}

fn one(
    document: &Document,
    place: &str,
    name: &str,
    parameter: &Json,
    required: bool,
    parameters: &mut ToolParameters,
    notes: &mut Vec<String>,
) -> Result<String, String> {
    if parameter.get("content").is_some() {
        return Err("it is a document inside a parameter (`content`)".to_owned());
    }
    if parameter.get("allowReserved") == Some(&Json::Bool(true)) {
        return Err("it is sent without encoding (`allowReserved`)".to_owned());
    }
    let usual = match place {
        "path" => "simple",
        "query" => "form",
        "header" => "simple",
        "cookie" => return Err("manifests send no cookies".to_owned()),
        other => return Err(format!("`in` is `{other}`")),
    };
    if place == "header" && HEADERS_REFUSED.contains(&name.to_ascii_lowercase().as_str()) {
        return Err("the client sets that header itself".to_owned());
    }
    let style = parameter.get("style").and_then(Json::as_str).unwrap_or(usual);
    if style != usual {
        return Err(format!("it is written in the style `{style}`"));
    }
    let mut converter = Converter::new(document, Direction::Sent);
    let mut schema = converter.convert(parameter.get("schema").unwrap_or(&json!({})))?;
    notes.append(&mut converter.notes);
    check_kinds(place, &schema, parameter.get("explode") != Some(&Json::Bool(false)))?;
    if let Some(text) = parameter.get("description").and_then(Json::as_str)
        && let Some(members) = schema.as_object_mut()
    {
        members.insert("description".to_owned(), cut(text, DESCRIPTION_CHARACTERS_MAX).into());
    }
    parameters.add(name, place, schema, required)
}

/// A text can go anywhere; a list only into a query, where each item is a parameter of its own.
fn check_kinds(place: &str, schema: &Json, explode: bool) -> Result<(), String> {
    if !says_kind(schema) {
        return Ok(());
    }
    if accepts(schema, "object") {
        return Err("it may be an object, which has no one form there".to_owned());
    }
    if !accepts(schema, "array") {
        return Ok(());
    }
    if place != "query" {
        return Err("it may be a list, which has no one form there".to_owned());
    }
    if !explode {
        return Err("it may be a list in one text (`explode = false`)".to_owned());
    }
    let items = schema.get("items");
    match items.filter(|items| says_kind(items)) {
        Some(items) if accepts(items, "array") || accepts(items, "object") => {
            Err("it may be a list of lists or objects".to_owned())
        }
        _ => Ok(()),
    }
}

/// The path with the tool's names in its places.
///
/// # Errors
/// In words, for a place that no parameter fills.
pub(super) fn path_template(path: &str, places: &Places) -> Result<String, String> {
    let mut text = String::new();
    let mut rest = path;
    while let Some((before, from)) = rest.split_once('{') {
        let Some((name, after)) = from.split_once('}') else {
            return Err(format!("the path `{path}` has a brace that is not closed"));
        };
        let Some(given) = places.path.get(name) else {
            return Err(format!("the path names `{{{name}}}`, and no parameter fills it"));
        };
        text.push_str(before);
        text.push_str(&format!("{{{given}}}"));
        rest = after;
    }
    if rest.contains('}') {
        return Err(format!("the path `{path}` has a brace that was not opened"));
    }
    text.push_str(rest);
    Ok(text)
}
