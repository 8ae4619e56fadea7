//! Help for an error in terms of the edge (route, tool or command): the table of codes names commands of a terminal.

use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode};

/// For what the operator alone can do, at a terminal.
const OPERATOR: &str = "read the message; the operator of this server can do something about it";

/// Whether a help is for a person at a terminal.
fn names_command(help: &str) -> bool {
    help.contains("`luaplan ") || help.contains("`--")
}

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
                Some("the operator of this server sets the keys named in the message")
            }
            ErrorCode::PermissionDenied => {
                Some("the message names the rule or setting; the operator of this server may change it")
            }
            ErrorCode::ConfigInvalid | ErrorCode::ConfigUnknownKey => {
                Some("the operator of this server corrects the key named in the message")
            }
            ErrorCode::ResponseInvalid => {
                Some("the operator of this server compares the answer with the tool's manifest")
            }
            ErrorCode::McpChanged => {
                Some("the operator of this server looks at what the tool is now, and accepts it or not")
            }
            ErrorCode::McpLoginRequired | ErrorCode::McpLoginFailed => {
                Some("the operator of this server logs in to the MCP server that the message names")
            }
            ErrorCode::DatabaseUnreachable | ErrorCode::SmtpFailed | ErrorCode::WorkerUnavailable => {
                Some("read the message; the operator of this server looks whether what it names runs")
            }
            ErrorCode::JournalCorrupt => Some("the operator of this server keeps the file as evidence"),
            code => (self.of_code)(code),
        }
    }

    /// What to say in place of an error's `help`: the edge's own words, or other words than those for a terminal.
    fn instead_of(&self, help: &str, code: ErrorCode) -> Option<&'static str> {
        let for_terminal = || names_command(help).then(|| code.remedy());
        let plain = |remedy| if names_command(remedy) { OPERATOR } else { remedy };
        self.of(code).or_else(|| for_terminal().map(plain))
    }

    /// What to do next with an error; `None` where its own help serves.
    #[must_use]
    pub fn of_error(&self, error: &Error) -> Option<&'static str> {
        match error.code() {
            // What was said for the very error says more than its code can, and who is to do it: what a person
            // alone may do may need the terminal.
            ErrorCode::ApprovalRequired if error.has_own_help() => None,
            ErrorCode::NotFound | ErrorCode::ApprovalStale | ErrorCode::AnswerStale
                if error.has_own_help() && !names_command(error.help()) =>
            {
                None
            }
            ErrorCode::NotFound => Some(self.listing),
            code => self.instead_of(error.help(), code),
        }
    }

    /// Puts the same into the report of a run, for the errors it tells.
    pub fn say_for_run(&self, report: &mut Json) {
        // An answer that is an error has said what to do already.
        if report.get("status").is_none() {
            return;
        }
        for place in ["/error", "/paused/cannot_go_on"] {
            let Some(error) = report.pointer_mut(place).and_then(Json::as_object_mut) else { continue };
            let code: Option<ErrorCode> =
                error.get("code").and_then(Json::as_str).and_then(|code| code.parse().ok());
            let said = error.get("help").and_then(Json::as_str).unwrap_or_default();
            if let Some(help) = code.and_then(|code| self.instead_of(said, code)) {
                error.insert("help".to_owned(), help.into());
            }
        }
    }

    /// Every help this edge can give that says nothing or names a command of a terminal, after its code. Empty for
    /// an edge that is right: its own tests hold it to that.
    #[must_use]
    pub fn faults(&self) -> Vec<String> {
        let of = |error: Error| {
            let help = self.of_error(&error).map_or_else(|| error.help().to_owned(), str::to_owned);
            let mut report = serde_json::json!({ "status": "failed", "error": error.to_json() });
            self.say_for_run(&mut report);
            let told = report["error"]["help"].as_str().unwrap_or_default().to_owned();
            [(error.code(), help), (error.code(), told)]
        };
        let each = |code: ErrorCode| {
            let own = |help: &str| Error::new(code, "it went wrong").with_help(help);
            let mut errors = vec![Error::new(code, "it went wrong")];
            if code != ErrorCode::ApprovalRequired {
                errors.extend([own("look with `luaplan show RUN`"), own("give `--with`")]);
            }
            errors.into_iter().flat_map(of).collect::<Vec<_>>()
        };
        let is_fault =
            |help: &str| help.is_empty() || ["`luaplan ", "`--"].iter().any(|word| help.contains(word));
        let helps = ErrorCode::ALL.iter().copied().flat_map(each);
        helps.filter(|(_, help)| is_fault(help)).map(|(code, help)| format!("{code}: {help}")).collect()
    }
}
