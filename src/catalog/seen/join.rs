//! Two shapes as one that allows both.

use std::collections::BTreeSet;

use indexmap::IndexMap;

use luaplan_base::ContentHash;

use super::read::{are_words, have_several_kinds};
use super::{Basis, FIELDS_MAX, SeenField, SeenRecord, SeenShape, SeenTable, UnsureTable};

impl SeenShape {
    pub(super) fn joined(self, other: Self, words: &BTreeSet<String>) -> Self {
        let join = |one: Option<Box<Self>>, other: Option<Box<Self>>| match (one, other) {
            (Some(one), Some(other)) => Some(Box::new(one.joined(*other, words))),
            (one, other) => one.or(other),
        };
        let table = match (self.table, other.table) {
            (Some(SeenTable::Record(one)), Some(SeenTable::Record(other))) => Some(one.joined(other, words)),
            (Some(SeenTable::Unsure(one)), Some(SeenTable::Record(other)))
            | (Some(SeenTable::Record(other)), Some(SeenTable::Unsure(one))) => {
                Some(one.joined(other, words))
            }
            (Some(one), Some(other)) => {
                let values = one.into_values(words).joined(other.into_values(words), words);
                Some(SeenTable::Map(Box::new(values)))
            }
            (one, other) => one.or(other),
        };
        Self {
            kinds: self.kinds.into_iter().chain(other.kinds).collect(),
            items: join(self.items, other.items),
            table,
            in_text: join(self.in_text, other.in_text),
        }
    }
}

impl SeenTable {
    /// What stands under its keys, whichever they are.
    pub(super) fn into_values(self, words: &BTreeSet<String>) -> SeenShape {
        match self {
            Self::Map(values) | Self::Unsure(UnsureTable { values, .. }) => *values,
            Self::Record(record) => {
                let values = record.fields.into_values().map(|field| field.shape);
                values.reduce(|one, other| one.joined(other, words)).unwrap_or_default()
            }
        }
    }
}

impl SeenShape {
    /// Keeps of tables whose keys may be data only the hash of these.
    pub(super) fn forget_unsure_keys(&mut self, words: &BTreeSet<String>) {
        for part in self.items.iter_mut().chain(&mut self.in_text) {
            part.forget_unsure_keys(words);
        }
        self.table = self.table.take().map(|table| match table {
            SeenTable::Record(SeenRecord { fields, basis: Basis::Once(content) }) => {
                let keys = keys_of(&fields);
                let record = SeenTable::Record(SeenRecord { fields, basis: Basis::Kinds });
                let mut values = Box::new(record.into_values(words));
                values.forget_unsure_keys(words);
                SeenTable::Unsure(UnsureTable { keys, content, values })
            }
            SeenTable::Record(mut record) => {
                record.fields.values_mut().for_each(|field| field.shape.forget_unsure_keys(words));
                SeenTable::Record(record)
            }
            SeenTable::Map(mut values) => {
                values.forget_unsure_keys(words);
                SeenTable::Map(values)
            }
            SeenTable::Unsure(mut table) => {
                table.values.forget_unsure_keys(words);
                SeenTable::Unsure(table)
            }
        });
    }
}

impl UnsureTable {
    fn joined(self, other: SeenRecord, words: &BTreeSet<String>) -> SeenTable {
        if other.fields.is_empty() {
            return SeenTable::Unsure(self);
        }
        let has_same_keys = self.keys == keys_of(&other.fields);
        if has_same_keys && other.basis != Basis::Once(self.content.clone()) {
            let SeenRecord { mut fields, basis } = other;
            for field in fields.values_mut() {
                field.shape = std::mem::take(&mut field.shape).joined((*self.values).clone(), words);
            }
            let basis = if let Basis::Once(_) = basis { Basis::Repeated } else { basis };
            return SeenTable::Record(SeenRecord { fields, basis });
        }
        let values = Box::new(self.values.joined(SeenTable::Record(other).into_values(words), words));
        if has_same_keys { SeenTable::Unsure(Self { values, ..self }) } else { SeenTable::Map(values) }
    }
}

/// The hash of a table's keys, whatever their order.
fn keys_of(fields: &IndexMap<String, SeenField>) -> ContentHash {
    let keys: BTreeSet<&str> = fields.keys().map(String::as_str).collect();
    ContentHash::of(keys.into_iter().collect::<Vec<_>>().join("\n").as_bytes())
}

impl SeenRecord {
    fn joined(self, other: Self, words: &BTreeSet<String>) -> SeenTable {
        // An empty table has no keys to compare.
        if self.fields.is_empty() || other.fields.is_empty() {
            return SeenTable::Record(if self.fields.is_empty() { other } else { self });
        }
        let Self { mut fields, basis } = self;
        let shared = other.fields.keys().filter(|key| fields.contains_key(*key)).count();
        let has_same_keys = shared == fields.len() && shared == other.fields.len();
        let has_all_needed =
            fields.iter().all(|(key, field)| field.optional || other.fields.contains_key(key));
        let most_are_known = shared * 2 >= other.fields.len();
        for (key, field) in &mut fields {
            field.optional |= !other.fields.contains_key(key);
        }
        for (key, field) in other.fields {
            match fields.get_mut(&key) {
                Some(known) => {
                    known.shape = std::mem::take(&mut known.shape).joined(field.shape, words);
                    known.optional |= field.optional;
                }
                None => drop(fields.insert(key, SeenField { optional: true, ..field })),
            }
        }
        let basis = if are_words(&fields, words) {
            Some(Basis::Words)
        } else if have_several_kinds(&fields) {
            (has_all_needed || most_are_known).then_some(Basis::Kinds)
        } else if has_same_keys {
            Some(match (basis, other.basis) {
                (Basis::Once(one), Basis::Once(other)) if one == other => Basis::Once(one),
                _ => Basis::Repeated,
            })
        } else {
            None
        };
        match basis {
            Some(basis) if fields.len() <= FIELDS_MAX => SeenTable::Record(Self { fields, basis }),
            _ => {
                let record = SeenTable::Record(Self { fields, basis: Basis::Kinds });
                SeenTable::Map(Box::new(record.into_values(words)))
            }
        }
    }
}
