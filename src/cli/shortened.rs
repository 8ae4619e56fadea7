//! Shortens long values for people: their start, their size, and the command that shows all.
//!
//! Data (`--json`, a pipe of results) is never shortened here.

use std::borrow::Cow;

use serde_json::Value as Json;

use luaplan_base::{Excerpt, RunId, excerpt};
use luaplan_journal::neutralize;

/// The most calls, plan lines or events of a page.
pub(super) const PAGE_LINES_MAX: usize = 200;

/// Whether values are shown whole, at the user's request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Detail {
    /// Long values are shortened.
    Short,
    /// All values are shown whole.
    Whole,
}

impl Detail {
    /// The setting of `--full`.
    pub(super) fn of_flag(full: bool) -> Self {
        if full { Self::Whole } else { Self::Short }
    }

    /// `text`, or its start with its size and the command that shows all of it.
    pub(super) fn text<'t>(self, text: &'t str, all: &str) -> Cow<'t, str> {
        match self.excerpt(text) {
            Some(part) => Cow::Owned(format!("{}… ({part} in all: `{all}`)", part.head)),
            None => Cow::Borrowed(text),
        }
    }

    /// At most `chars` characters, for a part of a line.
    pub(super) fn on_line(self, text: &str, chars: usize) -> String {
        match self {
            Self::Short => shorten(text, chars),
            Self::Whole => text.to_owned(),
        }
    }

    /// The start of a text that must be shortened.
    pub(super) fn excerpt(self, text: &str) -> Option<Excerpt<'_>> {
        if self == Self::Short { excerpt(text) } else { None }
    }

    /// The arguments of a call, one per line, each followed by `beside`. A last line names the command for the whole,
    /// where something was cut. Safe for a terminal.
    pub(super) fn arguments(
        self,
        arguments: &Json,
        all: &str,
        beside: impl Fn(&str) -> String,
    ) -> Vec<String> {
        let Some(members) = arguments.as_object() else {
            let text = arguments.to_string();
            return vec![neutralize(&format!("  {}", self.text(&text, all)))];
        };
        let width = members.keys().map(|name| name.chars().count()).max().unwrap_or(0);
        let mut is_short = false;
        let mut lines = Vec::new();
        for (name, value) in members {
            let text = value.to_string();
            let shown = match self.excerpt(&text) {
                Some(part) => {
                    is_short = true;
                    Cow::Owned(format!("{}… ({part})", part.head))
                }
                None => Cow::Borrowed(text.as_str()),
            };
            lines.push(neutralize(&format!("  {name:<width$}  {shown}{}", beside(name))));
        }
        if is_short {
            lines.push(format!("  … shortened; all of it: `{all}`"));
        }
        lines
    }
}

/// The command that shows all of a run.
pub(super) fn all_of_run(run_id: &RunId) -> String {
    format!("luaplan show {run_id} --full")
}

/// The command that shows all of a call.
pub(super) fn all_of_call(run_id: &RunId, call_id: &str) -> String {
    format!("luaplan show {run_id} --call {call_id} --full")
}

/// The first `max` characters, with an ellipsis where there are more.
pub(super) fn shorten(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
