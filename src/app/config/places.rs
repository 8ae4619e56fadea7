//! Where in a file each key stands.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

/// The line of every key of a document, counted from 1, by its path.
pub(super) fn lines_of(text: &str) -> BTreeMap<String, usize> {
    let mut lines = BTreeMap::new();
    if let Ok(document) = DeTable::parse(text) {
        walk(document.get_ref(), "", text, &mut lines);
    }
    lines
}

fn walk(table: &DeTable<'_>, prefix: &str, text: &str, lines: &mut BTreeMap<String, usize>) {
    for (key, value) in table {
        let path = super::layers::join(prefix, key.get_ref());
        lines.insert(path.clone(), line_at(text, key.span().start));
        if let DeValue::Table(inner) = value.get_ref() {
            walk(inner, &path, text, lines);
        }
    }
}

/// The line a byte stands in, counted from 1.
pub(super) fn line_at(text: &str, byte: usize) -> usize {
    text.get(..byte).unwrap_or(text).matches('\n').count() + 1
}
