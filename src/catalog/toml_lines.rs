//! Where in a TOML file each key stands.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

/// The line of every key of a document, counted from 1, by its path (`a.b`). Empty where the text
/// is not TOML.
#[must_use]
pub fn lines_of(text: &str) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    if let Ok(document) = DeTable::parse(text) {
        walk(document.get_ref(), "", text, &mut lines);
    }
    lines
}

/// The path of the key whose value holds a byte; of two inside one another the inner. `None` outside of values, and
/// where the text is not TOML.
#[must_use]
pub fn key_at(text: &str, byte: usize) -> Option<String> {
    let document = DeTable::parse(text).ok()?;
    let mut path: Vec<&str> = Vec::new();
    let mut table = document.get_ref();
    while let Some((key, value)) = table.iter().find(|(key, value)| {
        // A table in brackets has the place of its header; what is in it may be anywhere.
        value.span().contains(&byte) || key.span().contains(&byte) || holds(value.get_ref(), byte)
    }) {
        path.push(key.get_ref());
        match value.get_ref() {
            DeValue::Table(inner) => table = inner,
            _ => break,
        }
    }
    (!path.is_empty()).then(|| path.join("."))
}

fn holds(value: &DeValue<'_>, byte: usize) -> bool {
    let DeValue::Table(table) = value else { return false };
    table.iter().any(|(key, value)| {
        key.span().contains(&byte) || value.span().contains(&byte) || holds(value.get_ref(), byte)
    })
}

fn walk(table: &DeTable<'_>, prefix: &str, text: &str, lines: &mut BTreeMap<String, usize>) {
    for (key, value) in table {
        let path =
            if prefix.is_empty() { key.get_ref().to_string() } else { format!("{prefix}.{}", key.get_ref()) };
        lines.insert(path.clone(), line_at(text, key.span().start));
        if let DeValue::Table(inner) = value.get_ref() {
            walk(inner, &path, text, lines);
        }
    }
}

/// The line a byte stands in, counted from 1.
#[must_use]
pub fn line_at(text: &str, byte: usize) -> usize {
    text.get(..byte).unwrap_or(text).matches('\n').count() + 1
}
