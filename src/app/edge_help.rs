//! What to do next with an error, in words of the edge that tells it: the helps of the table of codes name commands of
//! a terminal.

use serde_json::Value as Json;

use crate::base::{Error, ErrorCode};

/// The words of one edge.
pub struct EdgeHelp {
    /// The help for a code, where the edge has words of its own for it.
    pub of_code: fn(ErrorCode) -> Option<&'static str>,
    /// How to find what there is, for what was not found.
    pub listing: &'static str,
}

impl EdgeHelp {
    fn of(&self, code: ErrorCode) -> Option<&'static str> {
        match code {
            ErrorCode::ToolNotConfigured => {
                Some("whoever runs this server sets the keys named in the message")
            }
            ErrorCode::PermissionDenied => {
                Some("the message names the rule or setting; whoever runs this server may change it")
            }
            code => (self.of_code)(code),
        }
    }

    /// What to do next with an error; `None` where its own help serves.
    #[must_use]
    pub fn of_error(&self, error: &Error) -> Option<&'static str> {
        match error.code() {
            // What was said for the very error says more than its code can, and who is to do it.
            ErrorCode::NotFound | ErrorCode::ApprovalStale | ErrorCode::ApprovalRequired
                if error.has_own_help() =>
            {
                None
            }
            ErrorCode::NotFound => Some(self.listing),
            code => self.of(code),
        }
    }

    /// Puts the same into the report of a run, for the error it ended with.
    pub fn say_for_run(&self, report: &mut Json) {
        // An answer that is an error has said what to do already.
        if report.get("status").is_none() {
            return;
        }
        let Some(error) = report.get_mut("error").and_then(Json::as_object_mut) else { return };
        let code = error.get("code").and_then(Json::as_str).and_then(|code| code.parse().ok());
        if let Some(help) = code.and_then(|code| self.of(code)) {
            error.insert("help".to_owned(), help.into());
        }
    }
}
