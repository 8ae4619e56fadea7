//! A learned shape as JSON Schema, in few words.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json, json};

use super::{Basis, DEPTH_MAX, FIELDS_MAX, Kind, SeenRecord, SeenShape, SeenTable};
use crate::lua_type;

/// The longest type that a shape is shown as.
const TYPE_BYTES_MAX: usize = 800;

/// How much of a shape is shown, the most first: levels, and fields of each table.
const DETAILS: [Detail; 8] = [
    Detail { levels: DEPTH_MAX, fields: FIELDS_MAX },
    Detail { levels: 4, fields: FIELDS_MAX },
    Detail { levels: 3, fields: FIELDS_MAX },
    Detail { levels: 3, fields: 16 },
    Detail { levels: 2, fields: 16 },
    Detail { levels: 2, fields: 8 },
    Detail { levels: 1, fields: 12 },
    Detail { levels: 0, fields: 0 },
];

#[derive(Clone, Copy)]
struct Detail {
    levels: usize,
    fields: usize,
}

impl SeenShape {
    /// As JSON Schema, as far as few words can show it; `None` where nothing is known.
    #[must_use]
    pub fn schema(&self) -> Option<Json> {
        let shown = DETAILS.into_iter().map(|detail| self.shown(detail));
        let mut fitting = shown.skip_while(|schema| lua_type(in_text(schema)).len() > TYPE_BYTES_MAX);
        fitting.next().filter(|schema| *schema != json!({}))
    }

    fn shown(&self, detail: Detail) -> Json {
        let Detail { levels, fields } = detail;
        let inner = Detail { levels: levels.saturating_sub(1), fields };
        let mut forms: Vec<Json> = Vec::new();
        if let Some(items) = &self.items {
            forms.push(with("array", "items", (levels > 0).then(|| items.shown(inner))));
        }
        forms.extend(self.table.as_ref().map(|table| match table {
            _ if levels == 0 => json!({ "type": "object" }),
            SeenTable::Record(record) if !matches!(record.basis, Basis::Once(_)) => record.shown(inner),
            // Keys that may still turn out to be data are not shown.
            table => {
                let values = table.clone().into_values(&BTreeSet::new());
                with("object", "additionalProperties", Some(values.shown(inner)))
            }
        }));
        for kind in &self.kinds {
            match (kind, &self.in_text) {
                (Kind::Null, _) => {}
                (Kind::Integer, _) if self.kinds.contains(&Kind::Number) => {}
                (Kind::String, Some(held)) => forms.push(json!({
                    "type": "string",
                    "contentMediaType": "application/json",
                    "contentSchema": held.shown(detail),
                })),
                _ => forms.push(json!({ "type": kind })),
            }
        }
        if !forms.is_empty() && self.kinds.contains(&Kind::Null) {
            forms.push(json!({ "type": "null" }));
        }
        match forms.len() {
            0 => json!({}),
            1 => forms.remove(0),
            _ => json!({ "anyOf": forms }),
        }
    }
}

impl SeenRecord {
    fn shown(&self, inner: Detail) -> Json {
        if self.fields.is_empty() {
            return json!({ "type": "object" });
        }
        let shown = || self.fields.iter().take(inner.fields);
        let properties: Map<String, Json> =
            shown().map(|(name, field)| (name.clone(), field.shape.shown(inner))).collect();
        let required: Vec<&String> =
            shown().filter(|(_, field)| !field.optional).map(|(name, _)| name).collect();
        let mut schema = json!({ "type": "object", "properties": properties, "required": required });
        if let (true, Some(members)) = (self.fields.len() > inner.fields, schema.as_object_mut()) {
            members.insert("additionalProperties".to_owned(), true.into());
        }
        schema
    }
}

/// A list or table, and what it holds where that is known.
fn with(kind: &str, key: &str, held: Option<Json>) -> Json {
    match held {
        Some(held) if held != json!({}) => json!({ "type": kind, key: held }),
        _ => json!({ "type": kind }),
    }
}

/// The schema of what a text holds, where the whole is a text that holds JSON.
pub(crate) fn in_text(schema: &Json) -> &Json {
    schema.get("contentSchema").unwrap_or(schema)
}
