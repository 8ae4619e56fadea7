//! The output of a command.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use owo_colors::{OwoColorize as _, Style};
use serde::Serialize;

use luaplan_app::config::{mask_json, mask_passwords};
use luaplan_base::{Error, ErrorCode};
use luaplan_journal::neutralize;

use super::shortened::Detail;
use super::sink;

/// Standard output and standard error, with the user's options for form and colour.
pub(super) struct Output {
    json: bool,
    terminal_out: bool,
    colour_out: bool,
    colour_err: bool,
    progress: bool,
    /// How much plan output was shown during the run, on a terminal that also shows the result.
    printed_live_bytes: Arc<AtomicUsize>,
}

impl Output {
    pub(super) fn new(json: bool, no_colour: bool) -> Self {
        let (out, err) = (io::stdout().is_terminal(), io::stderr().is_terminal());
        Self {
            json,
            terminal_out: out,
            colour_out: out && !no_colour,
            colour_err: err && !no_colour,
            progress: err,
            printed_live_bytes: Arc::default(),
        }
    }

    /// Whether the user requested data.
    pub(super) fn is_json(&self) -> bool {
        self.json
    }

    /// Whether standard error is a terminal.
    pub(super) fn shows_progress(&self) -> bool {
        self.progress
    }

    /// Whether standard output is a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.terminal_out
    }

    /// The counter of plan output shown during the run, where both streams go to a terminal.
    pub(super) fn printed_live(&self) -> Option<Arc<AtomicUsize>> {
        (self.terminal_out && self.progress).then(|| Arc::clone(&self.printed_live_bytes))
    }

    /// Whether all of `printed` was shown during the run, so that it need not be shown again.
    pub(super) fn has_shown(&self, printed: &str) -> bool {
        self.printed_live_bytes.load(Ordering::Relaxed) >= printed.trim_end().len()
    }

    /// Whether standard output may be coloured.
    pub(super) fn colours_out(&self) -> bool {
        self.colour_out
    }

    /// A line of the result. A closed pipe ends the output, not the command.
    pub(super) fn line(&self, text: impl Display) {
        let _ = writeln!(io::stdout().lock(), "{}", sink::text(&text.to_string()));
    }

    /// Clears the screen, where standard output is a terminal.
    pub(super) fn clear_screen(&self) {
        const CLEAR_AND_HOME: &[u8] = b"\x1b[2J\x1b[H";
        if self.terminal_out {
            let _ = io::stdout().lock().write_all(CLEAR_AND_HOME);
        }
    }

    /// A heading of the result.
    pub(super) fn heading(&self, text: &str) {
        self.line(format_args!("\n{}", self.paint(text, Style::new().bold())));
    }

    /// The result as data, indented.
    pub(super) fn data(&self, value: &impl Serialize) {
        if let Ok(json) = sink::data(value) {
            self.line(harmless_json(&format!("{json:#}")));
        }
    }

    /// The result as data, on one line.
    pub(super) fn data_line(&self, value: &impl Serialize) {
        if let Ok(json) = sink::data(value) {
            self.line(harmless_json(&json.to_string()));
        }
    }

    /// A part of the result that may be long: whole into a file or pipe, shortened on a terminal, with `all`, the
    /// command that shows the rest. Safe for a terminal.
    pub(super) fn shown(&self, text: &str, all: &str) {
        self.part(text, Detail::of_flag(!self.terminal_out), all);
    }

    /// The result as indented data, shortened as [`Output::shown`] does.
    pub(super) fn shown_data(&self, value: &impl Serialize, all: &str) {
        self.part_data(value, Detail::of_flag(!self.terminal_out), all);
    }

    /// A part of a page, on a terminal or not. Safe for a terminal.
    pub(super) fn part(&self, text: &str, detail: Detail, all: &str) {
        // Redact before the text is shortened: a part of a secret is not found.
        let text = &*sink::text(text);
        match detail.excerpt(text) {
            Some(part) => {
                self.line(part.head);
                self.line(format_args!("… shortened ({part} in all); all of it: `{all}`"));
            }
            None => self.line(text),
        }
    }

    /// Data as a part of a page.
    pub(super) fn part_data(&self, value: &impl Serialize, detail: Detail, all: &str) {
        if let Ok(json) = sink::data(value) {
            self.part(&harmless_json(&format!("{json:#}")), detail, all);
        }
    }

    /// Source code: unchanged into a file or pipe, escaped on a terminal.
    pub(super) fn source(&self, text: &str) {
        if self.terminal_out {
            self.line(neutralize(text.trim_end()));
        } else {
            let _ = io::stdout().lock().write_all(sink::text(text).as_bytes());
            if !text.ends_with('\n') {
                self.line("");
            }
        }
    }

    /// A note on standard error, where it is a terminal.
    pub(super) fn progress(&self, text: impl Display) {
        if self.progress {
            self.note(text);
        }
    }

    /// A note on standard error.
    pub(super) fn note(&self, text: impl Display) {
        let _ = writeln!(io::stderr().lock(), "{}", sink::text(&text.to_string()));
    }

    /// An error, with what to do next.
    pub(super) fn error(&self, error: &Error) {
        self.error_of(error, "the same command with --json");
    }

    /// As [`Output::error`]; `all` is the command that shows the whole of a long message.
    pub(super) fn error_of(&self, error: &Error, all: &str) {
        if self.json {
            let mut error = error.to_json();
            mask_json(&mut error);
            self.data(&serde_json::json!({ "error": error }));
            return;
        }
        // Redact before the text is shortened: a part of a secret is not found.
        let (message, help) = (sink::text(error.message()), sink::text(error.help()));
        let message = Detail::Short.text(&message, all);
        let message = mask_passwords(&neutralize(&message));
        let label = if self.colour_err { "error".red().bold().to_string() } else { "error".to_owned() };
        self.note(format_args!("{label}[{}]: {}", error.code(), message));
        if let (Some(limit), Some(observed)) = (error.limit(), error.observed()) {
            self.note(format_args!("  limit {limit}, seen {observed}"));
        }
        self.note(format_args!("  help: {}", mask_passwords(&neutralize(&Detail::Short.text(&help, all)))));
        if let Some(cause) = cause_of(error) {
            self.note(format_args!("  cause: {cause}. {}", cause.remedy()));
        }
    }

    pub(super) fn paint(&self, text: &str, style: Style) -> String {
        if self.colour_out { text.style(style).to_string() } else { text.to_owned() }
    }
}

/// The code of the failed call whose message a plan raised. For an ignored failure, the help is to handle it.
fn cause_of(error: &Error) -> Option<ErrorCode> {
    let cause = error.details().get("cause").filter(|_| error.code() == ErrorCode::PlanError);
    cause?.as_str()?.parse().ok()
}

/// A message of clap: an error of the command line, or its help or version.
pub(super) fn usage(error: &clap::Error, json: bool, no_colour: bool) {
    if !error.use_stderr() {
        // A closed pipe is no failure.
        let _ = error.print();
        return;
    }
    if !json {
        // It repeats text of the command line.
        let said = error.render();
        let colours = io::stderr().is_terminal() && !no_colour;
        let said = if colours { said.ansi().to_string() } else { said.to_string() };
        let _ = io::stderr().lock().write_all(sink::text(&said).as_bytes());
        return;
    }
    let text = error.to_string();
    let message = text.split("\n\n").next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let help = "`luaplan help` lists the commands, `luaplan help COMMAND` its options";
    Output::new(true, true).error(&Error::new(ErrorCode::Usage, message).with_help(help));
}

/// JSON text in which no character can control a terminal: such characters occur only in strings,
/// where an escape means the same.
fn harmless_json(text: &str) -> Cow<'_, str> {
    if !text.contains(is_harmful) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len());
    for character in text.chars() {
        if is_harmful(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing to a string cannot fail.
                let _ = std::fmt::Write::write_fmt(&mut safe, format_args!("\\u{unit:04x}"));
            }
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

fn is_harmful(character: char) -> bool {
    if character.is_ascii() {
        return character.is_ascii_control() && character != '\n';
    }
    let mut buffer = [0; 4];
    let text: &str = character.encode_utf8(&mut buffer);
    neutralize(text) != text
}
