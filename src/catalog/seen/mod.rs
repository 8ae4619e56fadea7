//! The shape of results, learned from what a tool returned: names and kinds, never a value.
//!
//! Keys may be data too: names of people, ids, paths. `read` says which keys may name fields; a table with others, or whose
//! keys differ from one result to the next, is a map, of which only the values' shape is kept. A shape only ever widens.

mod join;
mod read;
mod schema;

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use luaplan_base::{ContentHash, Value};

use super::{ToolKind, ToolSpec};
use read::Reader;
pub(super) use schema::in_text;

/// A table with more keys is a map.
const FIELDS_MAX: usize = 40;
/// Deeper parts are not kept.
const DEPTH_MAX: usize = 6;
/// A shape with more parts loses its deepest level.
const PARTS_MAX: usize = 150;

/// A kind of value that holds no others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Boolean,
    Integer,
    Number,
    String,
    Null,
}

/// What was seen at one place of a tool's results.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenShape {
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    kinds: BTreeSet<Kind>,
    /// What lists hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    items: Option<Box<SeenShape>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    table: Option<SeenTable>,
    /// What texts hold that are JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    in_text: Option<Box<SeenShape>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SeenTable {
    /// Its keys are data.
    Map(Box<SeenShape>),
    /// Its keys may be data: they are known by their hash until they come again in another table.
    Unsure(UnsureTable),
    Record(SeenRecord),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct UnsureTable {
    keys: ContentHash,
    content: ContentHash,
    values: Box<SeenShape>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeenRecord {
    fields: IndexMap<String, SeenField>,
    basis: Basis,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeenField {
    shape: SeenShape,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    optional: bool,
}

/// Why the keys of a table are taken for names of fields.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Basis {
    /// Each is a word of the tool's own description, or one that names fields everywhere.
    Words,
    /// The values are of several kinds.
    Kinds,
    /// Values of one kind, under the same keys in two tables that differ.
    Repeated,
    /// Values of one kind, in one table of this hash: its keys are not taken for names yet, and not kept.
    Once(ContentHash),
}

impl SeenShape {
    /// Widens the shape by a result of `tool`. Says whether it is another now.
    pub fn learn(&mut self, tool: &ToolSpec, result: &Value) -> bool {
        let mut reader = Reader::new(tool);
        let seen = reader.whole(result);
        let before = self.clone();
        *self = std::mem::take(self).joined(seen, &reader.words);
        self.forget_unsure_keys(&reader.words);
        for depth in (0..DEPTH_MAX).rev() {
            if self.parts() <= PARTS_MAX {
                break;
            }
            self.cut(depth);
        }
        *self != before
    }

    fn parts(&self) -> usize {
        let of = |part: &Option<Box<Self>>| part.as_ref().map_or(0, |part| part.parts());
        let table = match &self.table {
            None => 0,
            Some(SeenTable::Map(values) | SeenTable::Unsure(UnsureTable { values, .. })) => values.parts(),
            Some(SeenTable::Record(record)) => record.fields.values().map(|field| field.shape.parts()).sum(),
        };
        1 + of(&self.items) + of(&self.in_text) + table
    }

    /// Forgets what lies below so many levels.
    fn cut(&mut self, depth: usize) {
        if depth == 0 {
            self.items = self.items.take().map(|_| Box::default());
            self.in_text = None;
            self.table = self.table.take().map(|_| SeenTable::Map(Box::default()));
            return;
        }
        for part in self.items.iter_mut().chain(&mut self.in_text) {
            part.cut(depth - 1);
        }
        match &mut self.table {
            None => {}
            Some(SeenTable::Map(values) | SeenTable::Unsure(UnsureTable { values, .. })) => {
                values.cut(depth - 1);
            }
            Some(SeenTable::Record(record)) => {
                record.fields.values_mut().for_each(|field| field.shape.cut(depth - 1));
            }
        }
    }
}

impl ToolSpec {
    /// Whether its result schema leaves open what a result holds, so that a shape is learned.
    #[must_use]
    pub fn learns_result(&self) -> bool {
        self.kind != ToolKind::Builtin && says_nothing(&self.result)
    }
}

/// Whether a schema allows any value, text, table or list, and says no more of what it holds.
fn says_nothing(schema: &Json) -> bool {
    let members = match schema {
        Json::Bool(all) => return *all,
        Json::Object(members) => members,
        _ => return false,
    };
    members.iter().all(|(key, value)| match key.as_str() {
        "type" => ["object", "array", "string"].iter().any(|kind| value == kind),
        "items" | "additionalProperties" => says_nothing(value),
        "properties" | "required" | "$defs" | "definitions" => {
            value.as_object().is_none_or(serde_json::Map::is_empty)
        }
        "title" | "description" | "$schema" | "$id" | "default" | "examples" => true,
        other => other.starts_with("x-"),
    })
}
