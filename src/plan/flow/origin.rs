//! Where a value comes from.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;

/// A place in the context; empty for the whole. The part `*` is any entry.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextPath(pub Vec<String>);

impl ContextPath {
    /// Whether one of the two lies inside the other, or may.
    #[must_use]
    pub fn overlaps(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(one, other)| one == other || one == "*" || other == "*")
    }
}

impl fmt::Display for ContextPath {
    /// As a plan would write it: `context.orders[*].total`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("context")?;
        for part in &self.0 {
            match part.as_str() {
                "*" => f.write_str("[*]")?,
                name if is_identifier(name) => write!(f, ".{name}")?,
                other => write!(f, "[{other:?}]")?,
            }
        }
        Ok(())
    }
}

impl Serialize for ContextPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A source of data in a plan.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "of")]
pub enum Origin {
    /// A place in the context.
    Context(ContextPath),
    /// The result, or error, of the call site with this number.
    Call(u32),
    /// Any of them: the analysis cannot tell.
    Anything,
}

/// Whether a key of a table can be written without quotes.
pub(super) fn is_identifier(key: &str) -> bool {
    key.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && key.chars().all(|character| character.is_ascii_alphanumeric() || character == '_')
}

/// The sources that influence a value.
///
/// A source outside all three sets has no influence: however it varies, the value is the same and is
/// computed as often. A source in `stops` alone can only end the run before.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Slice {
    /// What the value contains or is computed from.
    pub data: BTreeSet<Origin>,
    /// What decides, by branches, loops and caught errors, whether and how often it is computed.
    pub control: BTreeSet<Origin>,
    /// What may end the run with an error, or keep it in a loop, before that.
    pub stops: BTreeSet<Origin>,
}

impl Slice {
    /// Whether the value depends on the plan's own constants alone.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.data.is_empty()
    }

    /// The text of a value, and the calls whose results it holds though the text does not name them, for example a
    /// result that the plan put into a table of the context.
    pub(super) fn with_calls_unnamed(&self, shown: String) -> String {
        let is_named = |name: &str| {
            let mut after = shown.match_indices(name).map(|(at, _)| &shown[at + name.len()..]);
            after.any(|rest| !rest.starts_with(|next: char| next.is_ascii_digit()))
        };
        let calls = self.data.iter().filter_map(|origin| match origin {
            Origin::Call(number) => Some(format!("call {number}")),
            _ => None,
        });
        let unnamed: Vec<String> = calls.filter(|name| !is_named(name)).collect();
        if unnamed.is_empty() { shown } else { format!("{shown}, with what {} gave", unnamed.join(", ")) }
    }
}
