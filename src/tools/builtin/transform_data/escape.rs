//! How a value is written into each format.

use std::borrow::Cow;

use minijinja::value::{Value, ValueKind};
use minijinja::{AutoEscape, Error, Output, State, escape_formatter};

use super::format::{ESCAPE_CSV, ESCAPE_MARKDOWN};

/// Writes a template's value: null as nothing (as `null` in JSON), booleans in lower case, the
/// rest as the engine does, escaped for the format.
pub(super) fn write_value(
    out: &mut Output<'_>,
    state: &mut State<'_, '_>,
    value: &Value,
    neutralise_formulas: bool,
) -> Result<(), Error> {
    let kind = value.kind();
    if !matches!(state.auto_escape(), AutoEscape::Json) {
        match kind {
            ValueKind::None | ValueKind::Undefined => return Ok(()),
            ValueKind::Bool => {
                return out.write_str(if value.is_true() { "true" } else { "false" }).map_err(Error::from);
            }
            _ => {}
        }
    }
    let escape: fn(&str) -> Cow<'_, str> = match state.auto_escape() {
        AutoEscape::Custom(name) if name == ESCAPE_MARKDOWN => markdown,
        AutoEscape::Custom(name) if name == ESCAPE_CSV && neutralise_formulas => csv_neutralised,
        AutoEscape::Custom(name) if name == ESCAPE_CSV => csv_field,
        _ => return escape_formatter(out, state, value),
    };
    if value.is_safe() {
        return out.write_str(value.as_str().unwrap_or_default()).map_err(Error::from);
    }
    match (value.as_str(), kind) {
        (Some(text), _) => out.write_str(&escape(text)).map_err(Error::from),
        (None, ValueKind::Number) => write!(out, "{value}").map_err(Error::from),
        (None, _) => out.write_str(&escape(&value.to_string())).map_err(Error::from),
    }
}

/// Text for HTML, in an element or a quoted attribute.
pub(super) fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#x27;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

/// Text for Markdown: a backslash escapes what could start markup or HTML.
pub(super) fn markdown(text: &str) -> Cow<'_, str> {
    const MARKUP: [char; 10] = ['\\', '`', '*', '_', '[', ']', '<', '|', '~', '!'];
    if !text.contains(MARKUP) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if MARKUP.contains(&character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    Cow::Owned(escaped)
}

/// One CSV field, quoted where it has to be (RFC 4180).
pub(super) fn csv_field(text: &str) -> Cow<'_, str> {
    if text.contains(['"', ',', '\n', '\r', ';', '\t']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        Cow::Borrowed(text)
    }
}

fn csv_neutralised(text: &str) -> Cow<'_, str> {
    match neutral(text) {
        Cow::Borrowed(text) => csv_field(text),
        Cow::Owned(text) => Cow::Owned(csv_field(&text).into_owned()),
    }
}

/// Text that a spreadsheet does not run as a formula: an apostrophe goes before a text that starts
/// like a formula and is not a plain number.
pub(super) fn neutral(text: &str) -> Cow<'_, str> {
    let begins = text.starts_with(['=', '+', '-', '@', '\t', '\r', '＝', '＋', '－', '＠']);
    let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
    if begins && !is_number { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}
