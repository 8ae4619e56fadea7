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
