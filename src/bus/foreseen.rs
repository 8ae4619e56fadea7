//! Calls that a plan may make, before it runs.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use serde_json::Value as Json;

use luaplan_base::{ToolFailure, Value};

/// A call as far as the source of its plan tells.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForeseenCall {
    /// The arguments that are known. In those of `partly`, null stands for any value.
    pub known: IndexMap<String, Value>,
    /// Known arguments that hold something unknown: an entry of a table, the rest of a text.
    pub partly: BTreeSet<String>,
    /// Arguments that are or may be given, with any value.
    pub open: BTreeSet<String>,
    /// What the types of the plan tell of arguments, as JSON Schema: `{}` for any value.
    pub shapes: IndexMap<String, Json>,
}

/// What is wrong with a text of a call that a plan may make, such as a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextFault {
    /// The argument.
    pub parameter: String,
    /// The character of the text where it is, from 1, where that is known.
    pub position: Option<usize>,
    /// What is wrong, without the data.
    pub message: String,
    /// What to do.
    pub help: String,
    /// Whether no run of the call makes it right: not so what one branch of a condition alone does.
    pub is_sure: bool,
}

impl ForeseenCall {
    /// Whether every argument is known whole.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.partly.is_empty() && self.open.is_empty()
    }

    /// The arguments that are known, by name.
    #[must_use]
    pub fn arguments(&self) -> Value {
        Value::Object(self.known.clone())
    }

    /// Whether the argument is known whole, or is surely left out.
    #[must_use]
    pub fn is_certain(&self, name: &str) -> bool {
        !self.partly.contains(name) && !self.open.contains(name)
    }

    /// The same call with nothing known but one argument.
    #[must_use]
    pub fn only(&self, name: &str) -> Self {
        let mut only = self.clone();
        only.known.retain(|known, _| known == name);
        only.partly.retain(|known| known == name);
        only.open.extend(self.known.keys().filter(|known| *known != name).cloned());
        only
    }

    /// The texts of an argument that is a text or a list of texts.
    pub fn texts(&self, name: &str) -> impl Iterator<Item = &str> {
        let items = match self.known.get(name) {
            Some(Value::Array(items)) => items.as_slice(),
            Some(single) => std::slice::from_ref(single),
            None => &[],
        };
        items.iter().filter_map(Value::as_str)
    }
}

/// What a database says of the statement of a call that it looked at and did not execute.
#[derive(Debug, Clone, PartialEq)]
pub enum Prepared {
    /// The call has no statement, or one that is not known.
    NoStatement,
    /// It takes it. `result` is what the call gives as JSON Schema, where the database tells.
    Taken {
        /// Names and kinds of columns, never rows.
        result: Option<Json>,
    },
    /// It refuses it. The detail `position` is the character of the argument `sql`, from 1.
    Refused(ToolFailure),
    /// It could not be asked.
    Unasked(ToolFailure),
}
