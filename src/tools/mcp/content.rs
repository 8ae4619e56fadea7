//! A server's answers as values for plans.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use indexmap::IndexMap;
use rmcp::model::{CallToolResult, ContentBlock, ReadResourceResult, ResourceContents};
use serde_json::Value as Json;

use luaplan_base::{CallOutcome, ErrorCode, Result, ToolFailure, Value};

/// The longest message of a server that is shown.
const MESSAGE_CHARACTERS_MAX: usize = 2_000;

/// Structured content where there is some; else the texts, joined by line breaks; where there is more
/// than text, a list of parts, each with its `type`: `text`, `image`, `audio`, `resource`, `link`. The
/// data of images and audio are bytes.
pub(super) fn of_result(tool: &str, result: CallToolResult) -> CallOutcome {
    let texts: Vec<&str> =
        result.content.iter().filter_map(|part| part.as_text().map(|text| text.text.as_str())).collect();
    if result.is_error == Some(true) {
        let said = shown(&texts.join("\n"));
        let message =
            format!("`{tool}` failed: {}", if said.is_empty() { "it did not say why" } else { &said });
        let failure = ToolFailure::new(ErrorCode::McpFailed, message);
        return Err(match result.structured_content.map(Value::from_json) {
            Some(Ok(details)) => failure.with_detail("details", details),
            _ => failure,
        });
    }
    if let Some(structured) = result.structured_content {
        return Value::from_json(structured).map_err(|error| invalid(tool, error.message()));
    }
    if texts.len() == result.content.len() {
        return Ok(Value::String(texts.join("\n")));
    }
    result
        .content
        .into_iter()
        .map(|part| of_part(tool, part))
        .collect::<Result<_, ToolFailure>>()
        .map(Value::Array)
}

fn of_part(tool: &str, part: ContentBlock) -> CallOutcome {
    let bytes = |data: &str| -> CallOutcome {
        let decoded = STANDARD.decode(data).map_err(|_| invalid(tool, "data that is not base64"))?;
        Ok(Value::from_lua_bytes(decoded))
    };
    let (kind, members) = match part {
        ContentBlock::Text(text) => ("text", vec![("text", Value::String(text.text))]),
        ContentBlock::Image(image) => {
            ("image", vec![("mime_type", Value::String(image.mime_type)), ("data", bytes(&image.data)?)])
        }
        ContentBlock::Audio(audio) => {
            ("audio", vec![("mime_type", Value::String(audio.mime_type)), ("data", bytes(&audio.data)?)])
        }
        ContentBlock::Resource(embedded) => {
            let (uri, data) = of_contents(tool, embedded.resource)?;
            ("resource", vec![("uri", Value::String(uri)), ("data", data)])
        }
        ContentBlock::ResourceLink(link) => {
            ("link", vec![("uri", Value::String(link.uri)), ("name", Value::String(link.name))])
        }
        _ => return Err(invalid(tool, "a kind of content this version does not know")),
    };
    let typed = std::iter::once(("type", Value::String(kind.to_owned()))).chain(members);
    Ok(Value::Object(typed.map(|(name, value)| (name.to_owned(), value)).collect::<IndexMap<_, _>>()))
}

/// The text or bytes of a resource; a table from URI to these where it has several parts.
pub(super) fn of_resource(result: ReadResourceResult) -> CallOutcome {
    let mut parts: Vec<(String, Value)> = result
        .contents
        .into_iter()
        .map(|part| of_contents("read", part))
        .collect::<Result<_, ToolFailure>>()?;
    match (parts.len(), parts.pop()) {
        (1, Some((_, only))) => Ok(only),
        (_, last) => Ok(Value::Object(parts.into_iter().chain(last).collect())),
    }
}

fn of_contents(tool: &str, contents: ResourceContents) -> Result<(String, Value), ToolFailure> {
    match contents {
        ResourceContents::TextResourceContents { uri, text, .. } => Ok((uri, Value::String(text))),
        ResourceContents::BlobResourceContents { uri, blob, .. } => {
            let bytes = STANDARD.decode(blob).map_err(|_| invalid(tool, "data that is not base64"))?;
            Ok((uri, Value::from_lua_bytes(bytes)))
        }
        _ => Err(invalid(tool, "a kind of resource this version does not know")),
    }
}

fn invalid(tool: &str, what: &str) -> ToolFailure {
    let message = format!("`{tool}` answered with what cannot be carried: {what}");
    ToolFailure::new(ErrorCode::McpResultInvalid, message)
}

/// A server's words, cut to the length of a message and without control characters.
pub(super) fn shown(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() && c != '\n' { ' ' } else { c })
        .take(MESSAGE_CHARACTERS_MAX)
        .collect::<String>()
        .trim()
        .to_owned()
}

/// The canonical form of a JSON document, for comparison; kept here so that both sides agree.
pub(super) fn canonical(value: &Json) -> Json {
    match value {
        Json::Object(members) => {
            let mut sorted: Vec<(&String, &Json)> = members.iter().collect();
            sorted.sort_by_key(|(name, _)| *name);
            Json::Object(sorted.into_iter().map(|(name, value)| (name.clone(), canonical(value))).collect())
        }
        Json::Array(items) => Json::Array(items.iter().map(canonical).collect()),
        other => other.clone(),
    }
}
