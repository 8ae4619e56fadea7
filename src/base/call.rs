//! A tool call as a plan makes it.

use serde_json::Value as Json;

use super::{CallId, Value};

/// One tool call of a plan.
#[derive(Debug, Clone, PartialEq)]
pub struct CallRequest {
    /// The call's position in the program.
    pub id: CallId,
    /// The tool's name, with a dot for tools of a server (`github.search`).
    pub tool: String,
    /// The arguments as the plan wrote them.
    pub arguments: CallArguments,
    /// Line of the plan that makes the call, counted from 1, where it is known.
    pub line: Option<u32>,
}

/// Arguments as the plan wrote them: positional, or one table of named arguments.
///
/// `tool{name = …}` arrives as one positional object; `catalog::ToolSpec::bind` decides by the tool's
/// parameters which of the two the plan means.
#[derive(Debug, Clone, PartialEq)]
pub struct CallArguments(pub Vec<Value>);

impl CallArguments {
    /// As a list, in plain form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        Json::Array(self.0.iter().map(Value::to_json).collect())
    }
}
