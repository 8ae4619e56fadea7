//! Rows as they arrive, counted against the caps before they are kept.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use luaplan_base::{ErrorCode, Value};

use super::failure::Failed;
use super::settings::Forms;

/// How much one result may hold.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Caps {
    pub(super) rows_max: u64,
    pub(super) bytes_max: u64,
    /// Where reading stops without a failure.
    pub(super) limit: Option<u64>,
}

/// Whether more rows are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RowFlow {
    More,
    Enough,
}

/// The remaining bytes of a result, for the next row to decode.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    bytes_max: u64,
    bytes: u64,
}

impl Room {
    /// Counts a cell before decoding it, which takes time and may enlarge it many times.
    pub(super) fn take(&mut self, cell: &[u8]) -> Result<(), Failed> {
        self.bytes = self.bytes.saturating_add(cell.len() as u64);
        if self.bytes > self.bytes_max {
            return Err(too_large("bytes_max", "bytes", self.bytes_max, self.bytes));
        }
        Ok(())
    }
}

/// The rows of one result.
#[derive(Debug)]
pub(super) struct Rows {
    caps: Caps,
    names: Vec<String>,
    rows: Vec<Value>,
    bytes: u64,
    /// Rows changed, for statements that write.
    pub(super) affected: u64,
    /// What its columns become.
    pub(super) forms: Forms,
}

impl Rows {
    pub(super) fn new(caps: Caps) -> Self {
        let (names, rows) = (Vec::new(), Vec::new());
        Self { caps, names, rows, bytes: 0, affected: 0, forms: Forms::default() }
    }

    /// What the next row may hold.
    pub(super) fn room(&self) -> Room {
        Room { bytes_max: self.caps.bytes_max, bytes: self.bytes }
    }

    /// Adds a row: its values in column order. `column_names` is asked once.
    pub(super) fn push<'n>(
        &mut self,
        values: Vec<Value>,
        column_names: impl FnOnce() -> Vec<&'n str>,
    ) -> Result<RowFlow, Failed> {
        if self.names.len() != values.len() {
            self.names = unique(&column_names());
        }
        let count = self.rows.len() as u64 + 1;
        if count > self.caps.rows_max {
            return Err(too_large("rows_max", "rows", self.caps.rows_max, count));
        }
        let row = Value::Object(self.names.iter().cloned().zip(values).collect::<IndexMap<_, _>>());
        self.bytes = self.bytes.saturating_add(row.approximate_bytes());
        if self.bytes > self.caps.bytes_max {
            return Err(too_large("bytes_max", "bytes", self.caps.bytes_max, self.bytes));
        }
        self.rows.push(row);
        Ok(if self.caps.limit.is_some_and(|limit| count >= limit) { RowFlow::Enough } else { RowFlow::More })
    }

    /// Makes text of the numbers in the columns at these places, in rows that were pushed here.
    pub(super) fn numbers_to_text(&mut self, places: &[usize]) -> Result<(), Failed> {
        for row in &mut self.rows {
            let Value::Object(members) = row else { continue };
            for place in places {
                let Some((_, value)) = members.get_index_mut(*place) else { continue };
                let text = match value {
                    Value::Integer(number) => number.to_string(),
                    Value::Float(number) => format!("{number:?}"),
                    _ => continue,
                };
                self.bytes = self.bytes.saturating_add(text.len() as u64);
                *value = Value::String(text);
            }
        }
        if self.bytes > self.caps.bytes_max {
            return Err(too_large("bytes_max", "bytes", self.caps.bytes_max, self.bytes));
        }
        Ok(())
    }

    /// Drops the rows after the first `limit`.
    pub(super) fn keep_first(&mut self, limit: Option<u64>) {
        if let Some(limit) = limit {
            self.rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub(super) fn caps(&self) -> Caps {
        self.caps
    }

    /// Takes rows that another process counted against the same caps.
    pub(super) fn take(&mut self, rows: Vec<Value>, affected: u64) {
        self.rows = rows;
        self.affected = affected;
    }

    pub(super) fn into_rows(self) -> Vec<Value> {
        self.rows
    }

    pub(super) fn into_value(self) -> Value {
        Value::Array(self.rows)
    }
}

fn too_large(key: &str, unit: &str, limit: u64, observed: u64) -> Failed {
    Failed::new(
        ErrorCode::ResultTooLarge,
        format!("the query returns more than {limit} {unit} (`tools.query_db.{key}`)"),
    )
    .with_limit(limit, observed)
    .with_detail("unit", unit)
    .with_help("use `limit`, fewer columns or a narrower `where`")
}

/// Column names with `_2`, `_3` … after those that came before.
pub(super) fn unique(names: &[&str]) -> Vec<String> {
    let mut taken: IndexMap<String, ()> = IndexMap::new();
    for name in names {
        let mut candidate = (*name).to_owned();
        let mut number = 2;
        while taken.contains_key(&candidate) || (number > 2 && names.contains(&candidate.as_str())) {
            candidate = format!("{name}_{number}");
            number += 1;
        }
        taken.insert(candidate, ());
    }
    taken.into_keys().collect()
}
