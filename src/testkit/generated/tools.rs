//! Answers of the built-in tools, in the form that the call asks for where a result schema does not decide it.

use serde_json::{Value as Json, json};

use luaplan_catalog::{ToolKind, ToolSpec};

use super::draw::Draw;
use super::{rows, words};
use crate::defaults::fetched;

/// The answer of a built-in tool; `None` for any other.
pub(super) fn answer(spec: &ToolSpec, arguments: &Json, draw: &mut Draw) -> Option<Json> {
    if spec.kind != ToolKind::Builtin {
        return None;
    }
    match spec.name.as_str() {
        "query_db" => Some(rows::answer(arguments, draw)),
        "fetch_url" => Some(fetched(arguments, |url| body(url, draw))),
        "transform_data" => Some(json!(transformed(arguments, draw))),
        "send_email" => Some(delivered(arguments, draw)),
        "call_llm" => Some(json!(said(arguments, draw))),
        _ => None,
    }
}

/// The body at a URL: data where its name says so, else a page; sometimes nothing.
fn body(url: &str, draw: &mut Draw) -> Json {
    if draw.once_in(12) {
        return json!("");
    }
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let extension = path.rsplit('/').next().and_then(|name| name.rsplit_once('.')).map(|(_, end)| end);
    if extension == Some("json") || path.contains("/api") {
        return json!(json!({"items": [item(draw), item(draw)], "total": 2}).to_string());
    }
    if extension == Some("csv") {
        let row = |draw: &mut Draw| format!("{},{}", draw.between(1, 99), words::text("city", draw));
        return json!(format!("id,city\n{}\n{}\n", row(draw), row(draw)));
    }
    let (title, text) = (words::words(draw), words::words(draw));
    json!(format!(
        "<!DOCTYPE html><html><head><title>{title}</title></head><body><h1>{title}</h1><p>{text}</p></body></html>"
    ))
}

fn item(draw: &mut Draw) -> Json {
    json!({"id": draw.between(1, 99), "name": words::text("name", draw), "amount": words::number("amount", draw)})
}

fn transformed(arguments: &Json, draw: &mut Draw) -> String {
    let (one, other) = (words::words(draw), words::words(draw));
    let number = draw.between(1, 99);
    match arguments.get("format").and_then(Json::as_str) {
        Some("html") => format!("<table><tr><th>{one}</th></tr><tr><td>{other}</td></tr></table>\n"),
        Some("markdown") => format!("| {one} |\n| --- |\n| {other} |\n"),
        Some("json") => json!([{"id": number, "name": one}]).to_string(),
        Some("csv") => format!("id,name\n{number},{one}\n"),
        _ => format!("{one}\n{other}\n"),
    }
}

fn said(arguments: &Json, draw: &mut Draw) -> String {
    let text = words::words(draw);
    match arguments.get("format").and_then(Json::as_str) {
        Some("json") => json!({"answer": text, "items": [words::words(draw)]}).to_string(),
        _ => format!("{text}."),
    }
}

fn delivered(arguments: &Json, draw: &mut Draw) -> Json {
    let mut recipients: Vec<String> = Vec::new();
    for name in ["to", "cc", "bcc"] {
        match arguments.get(name) {
            Some(Json::String(addresses)) => {
                recipients.extend(addresses.split(',').map(|address| bare(address).to_owned()));
            }
            Some(Json::Array(addresses)) => {
                recipients.extend(
                    addresses.iter().filter_map(Json::as_str).map(|address| bare(address).to_owned()),
                );
            }
            _ => {}
        }
    }
    let body_bytes = arguments.get("body").and_then(Json::as_str).map_or(0, str::len);
    json!({
        "delivered": true,
        "message_id": format!("<generated.{}@example.com>", draw.between(1, 999_999)),
        "recipients": recipients,
        "size_bytes": body_bytes + 512,
        "response": "250 OK",
    })
}

/// `Name <user@example.com>` without the name.
fn bare(address: &str) -> &str {
    let address = address.trim();
    address.rsplit_once('<').map_or(address, |(_, rest)| rest.trim_end_matches('>'))
}
