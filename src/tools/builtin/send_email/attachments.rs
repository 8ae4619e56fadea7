//! Attachments: their names, their bytes, their types.

use std::collections::HashSet;

use lettre::message::header::ContentType;
use percent_encoding::percent_decode_str;
use url::Url;

use luaplan_base::{ErrorCode, Result, ToolFailure, Value};

use super::header_text;

/// Most bytes of a file name; file systems take 255.
const NAME_BYTES_MAX: usize = 200;

/// One attachment, ready to be put into a message.
pub(super) struct Attachment {
    pub(super) name: String,
    pub(super) content: Vec<u8>,
    pub(super) content_type: ContentType,
}

/// Reads the argument: a map from name (or URL) to bytes, or a list of
/// `{name, content, content_type?}`. In a map a value may also be a table with `content` (or
/// `body`, as `fetch_url` with details gives it) and `content_type`.
pub(super) fn parse(argument: Option<&Value>) -> Result<Vec<Attachment>, ToolFailure> {
    let mut taken = HashSet::new();
    let mut attachments = Vec::new();
    match argument {
        None | Some(Value::Null) => {}
        Some(Value::Object(members)) => {
            for (name, value) in members {
                attachments.push(read(name, value, &mut taken)?);
            }
        }
        Some(Value::Array(items)) => {
            for (index, item) in items.iter().enumerate() {
                let place = format!("number {}", index + 1);
                if let Value::Failure(failure) = item {
                    return Err(failed(&place, failure));
                }
                let Some(name) = item.get("name").and_then(Value::as_str) else {
                    return Err(refuse(&place, "needs a `name`; write {name = …, content = …}"));
                };
                attachments.push(read(name, item, &mut taken)?);
            }
        }
        Some(other) => {
            let message = format!(
                "`attachments` must be a table from name to bytes or a list of {{name, content}}, not {}",
                other.kind()
            );
            return Err(ToolFailure::new(ErrorCode::EmailInvalid, message));
        }
    }
    Ok(attachments)
}

fn read(name: &str, value: &Value, taken: &mut HashSet<String>) -> Result<Attachment, ToolFailure> {
    let mut declared = None;
    let content = match value {
        Value::Object(members) => {
            for key in members.keys() {
                if !matches!(
                    key.as_str(),
                    "name" | "content" | "body" | "content_type" | "status" | "headers" | "url"
                ) {
                    let key = header_text::shorten(key);
                    return Err(refuse(name, &format!("has the unknown key `{key}`")));
                }
            }
            declared = match members.get("content_type") {
                None | Some(Value::Null) => None,
                Some(Value::String(text)) => Some(text.as_str()),
                Some(other) => {
                    return Err(refuse(name, &format!("has a content_type that is {}", other.kind())));
                }
            };
            members.get("content").or_else(|| members.get("body")).unwrap_or(&Value::Null)
        }
        plain => plain,
    };
    if let Value::Failure(failure) = content {
        return Err(failed(name, failure));
    }
    let Some(bytes) = content.as_bytes() else {
        return Err(refuse(name, &format!("must be bytes or text, not {}", content.kind())));
    };
    let file_name = unique(&file_name(name).map_err(|reason| refuse(name, &reason))?, taken);
    let content_type = content_type(declared, &file_name, bytes).map_err(|reason| refuse(name, &reason))?;
    Ok(Attachment { name: file_name, content: bytes.to_vec(), content_type })
}

fn failed(name: &str, failure: &ToolFailure) -> ToolFailure {
    refuse(name, "is the result of a failed call")
        .with_detail("cause_code", failure.code.as_str())
        .with_detail("cause", header_text::neutralize(&failure.message))
}

fn refuse(name: &str, reason: &str) -> ToolFailure {
    let name = header_text::shorten(name);
    ToolFailure::new(ErrorCode::EmailInvalid, format!("the attachment `{name}` {reason}"))
}

/// The name the receiver sees: the last part of a URL or path, without characters that file systems refuse.
fn file_name(name: &str) -> Result<String, String> {
    header_text::check(name)?;
    let last = match Url::parse(name) {
        Ok(url) if url.has_host() => {
            let segment =
                url.path_segments().and_then(|segments| segments.rev().find(|part| !part.is_empty()));
            match segment {
                Some(segment) => percent_decode_str(segment).decode_utf8_lossy().into_owned(),
                None => url.host_str().unwrap_or_default().to_owned(),
            }
        }
        _ => name.to_owned(),
    };
    header_text::check(&last)?;
    let last = last.rsplit(['/', '\\']).find(|part| !part.trim().is_empty()).unwrap_or_default();
    let clean: String =
        last.chars().map(|character| if "<>:\"|?*".contains(character) { '_' } else { character }).collect();
    let clean = clean.trim().trim_start_matches('.').trim_end_matches(['.', ' ']);
    Ok(if clean.is_empty() { "attachment".to_owned() } else { cut(clean) })
}

/// Cuts the stem of a name that is too long and keeps its extension.
fn cut(name: &str) -> String {
    if name.len() <= NAME_BYTES_MAX {
        return name.to_owned();
    }
    let (stem, extension) = split_extension(name);
    let mut end = NAME_BYTES_MAX - extension.len();
    while !stem.is_char_boundary(end) {
        end -= 1;
    }
    format!("{}{extension}", &stem[..end])
}

/// `a.tar` and `.gz`; what follows a late dot and is short counts as extension.
fn split_extension(name: &str) -> (&str, &str) {
    const EXTENSION_BYTES_MAX: usize = 16;
    match name.rfind('.') {
        Some(at) if at > 0 && name.len() - at <= EXTENSION_BYTES_MAX => name.split_at(at),
        _ => (name, ""),
    }
}

fn unique(name: &str, taken: &mut HashSet<String>) -> String {
    let (stem, extension) = split_extension(name);
    let mut candidate = name.to_owned();
    let mut number = 2_u32;
    while !taken.insert(candidate.to_lowercase()) {
        candidate = format!("{stem}-{number}{extension}");
        number += 1;
    }
    candidate
}

/// The plan's type, else the type of the bytes, else that of the name.
fn content_type(declared: Option<&str>, name: &str, bytes: &[u8]) -> Result<ContentType, String> {
    const UNKNOWN: &str = "application/octet-stream";
    let is_text = std::str::from_utf8(bytes).is_ok();
    if let Some(declared) = declared {
        header_text::check(declared)?;
        let parsed =
            ContentType::parse(declared).map_err(|_| "has a content_type that is none".to_owned())?;
        // A part of this kind would be read as structure, not as a file.
        let lower = declared.trim().to_ascii_lowercase();
        if lower.starts_with("multipart/") || lower.starts_with("message/") {
            return Err("has a multipart or message content_type, which a file cannot have".to_owned());
        }
        return Ok(parsed);
    }
    let by_name = mime_guess::from_path(name).first_raw();
    let by_bytes = infer::get(bytes).map(|kind| kind.mime_type());
    let guessed = match (by_bytes, by_name) {
        // A container's own type says less than the name: an SVG is XML, a document is a ZIP.
        (Some("text/xml"), Some(name)) if name.ends_with("xml") => name,
        (Some("application/zip"), Some(name))
            if !name.starts_with("text/") && !name.starts_with("image/") =>
        {
            name
        }
        (Some(bytes), _) => bytes,
        (None, Some(name)) if is_text || !name.starts_with("text/") => name,
        (None, _) if is_text => "text/plain",
        (None, _) => UNKNOWN,
    };
    // Never structure here either, whatever a table of types holds.
    let guessed =
        if guessed.starts_with("message/") || guessed.starts_with("multipart/") { UNKNOWN } else { guessed };
    let full = if guessed.starts_with("text/") && is_text {
        format!("{guessed}; charset=utf-8")
    } else {
        guessed.to_owned()
    };
    ContentType::parse(&full).map_err(|_| format!("has no usable type ({guessed})"))
}
