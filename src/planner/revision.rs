//! An earlier plan that is to be changed, as the model is told of it.

use std::fmt::Write as _;

use serde_json::json;

use luaplan_base::ContentHash;
use luaplan_plan::Finding;
use luaplan_plan::parameters::parameters;

use super::feedback::{AGAIN, Turn, write_findings};
use super::planning::quoted;

/// A plan that a person wants changed.
#[derive(Debug, Clone)]
pub struct Revision {
    /// Its source.
    pub source: String,
    /// The task it was written for, where that is another than the one now.
    pub task: Option<String>,
    /// What the check finds of it now.
    pub findings: Vec<Finding>,
    /// Hashes of the data that it was written after.
    pub influenced_by: Vec<ContentHash>,
    /// What the person said of the plans that were rejected, the oldest first; the source is the last of these. Empty
    /// where the task itself says what is to change.
    pub rejected: Vec<String>,
    /// The tools with which earlier plans for the same task changed, sent or spent something, a name for each call.
    pub done: Vec<String>,
}

impl Revision {
    pub(super) fn turn(&self) -> Turn {
        let mut text = String::new();
        if let Some(task) = &self.task {
            let _ = writeln!(text, "The program above was written for this task:\n{}\n", quoted(task));
        }
        match self.rejected.split_last() {
            None => text.push_str(
                "Change it as the task above says. What the task does not name stays as it is, in its result too.\n",
            ),
            Some((last, earlier)) => {
                let _ = writeln!(
                    text,
                    "Nothing of the program above was run. The person who looks at it first rejected it and says:\n{}",
                    quoted(last)
                );
                if !earlier.is_empty() {
                    text.push_str("\nOf programs before it the person said this, which still holds:\n");
                }
                for reason in earlier {
                    let _ = writeln!(text, "{}", quoted(reason));
                }
                text.push_str("\nWrite a program for the task that does as the person says.\n");
            }
        }
        if !parameters(&self.source).is_empty() {
            text.push_str(
                "\nThe lines `-- luaplan: param(…)` at its top declare members of the context that callers give: keep them.\n",
            );
        }
        if !self.done.is_empty() {
            text.push_str("\nBefore it, earlier programs for this task did this; do not do it again:\n");
        }
        for tool in &self.done {
            let _ = writeln!(text, "- {tool}");
        }
        if !self.findings.is_empty() {
            text.push_str("\nThe check finds this in the program as it is:\n");
            write_findings(&mut text, &self.source, &self.findings);
        }
        let _ = write!(text, "\n{AGAIN}");
        Turn { answer: Some(json!({ "plan": self.source }).to_string()), reply: text }
    }
}
