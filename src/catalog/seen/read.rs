//! One result as a shape, and which of its keys may name fields.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use luaplan_base::{ContentHash, Value};

use super::{Basis, DEPTH_MAX, FIELDS_MAX, Kind, SeenField, SeenRecord, SeenShape, SeenTable};
use crate::ToolSpec;
use crate::relevance::terms;

/// Words that name fields whatever an interface is about.
const FIELD_WORDS: &str = include_str!("field_words.txt");
/// The most items of a list, or values of a map, that are looked at.
const ITEMS_MAX: usize = 50;
/// Values of one result that are looked at.
const VALUES_MAX: usize = 4_000;
/// The longest key that may name a field, and the most digits in it: ids and dates have more.
const KEY_BYTES_MAX: usize = 40;
const KEY_DIGITS_MAX: usize = 3;
/// The longest text that is read as JSON.
const JSON_BYTES_MAX: usize = 1024 * 1024;

pub(super) struct Reader {
    /// The words that a key may consist of to name a field in any case.
    pub(super) words: BTreeSet<String>,
    left: usize,
}

impl Reader {
    pub(super) fn new(tool: &ToolSpec) -> Self {
        let parameters = tool.parameters().map(|(name, _)| name);
        let texts = [tool.name.as_str(), &tool.description, FIELD_WORDS].into_iter().chain(parameters);
        Self { words: texts.flat_map(terms).collect(), left: VALUES_MAX }
    }

    /// A result, also where it is a text that holds JSON.
    pub(super) fn whole(&mut self, result: &Value) -> SeenShape {
        let mut seen = self.read(result, DEPTH_MAX);
        if let Value::String(text) = result {
            seen.in_text = self.in_text(text).map(Box::new);
        }
        seen
    }

    fn in_text(&mut self, text: &str) -> Option<SeenShape> {
        if text.len() > JSON_BYTES_MAX || !text.trim_start().starts_with(['{', '[']) {
            return None;
        }
        Value::from_json_text(text).ok().map(|value| self.read(&value, DEPTH_MAX))
    }

    fn read(&mut self, value: &Value, depth: usize) -> SeenShape {
        self.left = self.left.saturating_sub(1);
        let (depth, is_cut) = (depth.saturating_sub(1), depth == 0 || self.left == 0);
        let kind = match value {
            Value::Null => Kind::Null,
            Value::Bool(_) => Kind::Boolean,
            Value::Integer(_) => Kind::Integer,
            Value::Float(_) => Kind::Number,
            Value::String(_) | Value::Bytes(_) => Kind::String,
            Value::Array(items) => {
                let items = if is_cut { SeenShape::default() } else { self.all(items.iter(), depth) };
                return SeenShape { items: Some(Box::new(items)), ..SeenShape::default() };
            }
            Value::Object(members) => {
                let table = match members {
                    _ if is_cut => SeenTable::Map(Box::default()),
                    members => self.table(members, value, depth),
                };
                return SeenShape { table: Some(table), ..SeenShape::default() };
            }
            Value::Failure(_) => {
                let table = Some(SeenTable::Map(Box::default()));
                return SeenShape { table, ..SeenShape::default() };
            }
        };
        SeenShape { kinds: BTreeSet::from([kind]), ..SeenShape::default() }
    }

    fn all<'v>(&mut self, values: impl Iterator<Item = &'v Value>, depth: usize) -> SeenShape {
        values.take(ITEMS_MAX).fold(SeenShape::default(), |seen, value| {
            let next = self.read(value, depth);
            seen.joined(next, &self.words)
        })
    }

    fn table(&mut self, members: &IndexMap<String, Value>, whole: &Value, depth: usize) -> SeenTable {
        if members.len() > FIELDS_MAX || !members.keys().all(|key| may_name_a_field(key)) {
            return SeenTable::Map(Box::new(self.all(members.values(), depth)));
        }
        let fields: IndexMap<String, SeenField> = members
            .iter()
            .map(|(name, value)| {
                (name.clone(), SeenField { shape: self.read(value, depth), optional: false })
            })
            .collect();
        let basis = if are_words(&fields, &self.words) {
            Basis::Words
        } else if have_several_kinds(&fields) {
            Basis::Kinds
        } else {
            Basis::Once(ContentHash::of_json(&whole.to_json()))
        };
        SeenTable::Record(SeenRecord { fields, basis })
    }
}

/// Whether a key has the form of a name, rather than that of a text, an address, a date or an id.
fn may_name_a_field(key: &str) -> bool {
    let is_name = key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name && key.len() <= KEY_BYTES_MAX && key.bytes().filter(u8::is_ascii_digit).count() <= KEY_DIGITS_MAX
}

/// Whether every key consists of known words.
pub(super) fn are_words(fields: &IndexMap<String, SeenField>, words: &BTreeSet<String>) -> bool {
    fields.keys().all(|key| terms(key).all(|word| words.contains(&word)))
}

/// Whether the values are of more than one kind, so that this is no table from data to values.
pub(super) fn have_several_kinds(fields: &IndexMap<String, SeenField>) -> bool {
    let mut kinds = BTreeSet::new();
    for SeenField { shape, .. } in fields.values() {
        kinds.extend(shape.kinds.iter().filter_map(|kind| match kind {
            Kind::Null => None,
            Kind::Integer | Kind::Number => Some("number"),
            Kind::Boolean => Some("boolean"),
            Kind::String => Some("string"),
        }));
        kinds.extend(shape.items.as_ref().map(|_| "list"));
        kinds.extend(shape.table.as_ref().map(|_| "table"));
    }
    kinds.len() > 1
}
