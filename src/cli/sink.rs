//! Redacts everything that this process writes to a terminal, a pipe or its log.
//!
//! Messages of panics pass it as well, so it belongs to the process and not to a command. Before the
//! configuration is read, and where it cannot be, keys are found by their form alone.

use std::borrow::Cow;
use std::io::{self, Write};
use std::sync::{Arc, LazyLock, PoisonError, RwLock};

use serde::Serialize;
use serde_json::Value as Json;

use luaplan_journal::{Redactor, SecretForms};

static REDACTOR: LazyLock<RwLock<Arc<Redactor>>> = LazyLock::new(|| {
    let forms = SecretForms::new("redact.patterns", &[]);
    let redactor = Redactor::without_secrets();
    RwLock::new(Arc::new(match forms {
        Ok(forms) => redactor.with_forms(forms),
        Err(_) => redactor,
    }))
});

fn redactor() -> Arc<Redactor> {
    Arc::clone(&REDACTOR.read().unwrap_or_else(PoisonError::into_inner))
}

/// Redacts these secrets from now on.
pub(super) fn know(redactor: Redactor) {
    *REDACTOR.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(redactor);
}

/// Redacts a message for a person, or data that is text.
pub(super) fn text(text: &str) -> Cow<'_, str> {
    redactor().exact_text(text)
}

/// Redacts data; returns it unchanged where it has no JSON form.
pub(super) fn data(value: &impl Serialize) -> serde_json::Result<Json> {
    let mut json = serde_json::to_value(value)?;
    redactor().document(&mut json);
    Ok(json)
}

/// The log's writer to standard error. Each line arrives in one piece.
pub(super) struct LogLines;

impl Write for LogLines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let line = String::from_utf8_lossy(bytes);
        io::stderr().lock().write_all(redactor().text(&line).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().lock().flush()
    }
}

/// Redacts messages of panics. A backtrace follows where `RUST_BACKTRACE` asks for one, as usual.
pub(super) fn guard_panics() {
    std::panic::set_hook(Box::new(|panic| {
        // A failure here cannot be reported anywhere.
        let _ = io::stderr().lock().write_all(crash_words(panic).as_bytes());
    }));
}

fn crash_words(panic: &impl std::fmt::Display) -> String {
    let trace = std::backtrace::Backtrace::capture();
    let thread = std::thread::current();
    let mut said = format!("thread '{}' {panic}\n", thread.name().unwrap_or("unnamed"));
    if trace.status() == std::backtrace::BacktraceStatus::Captured {
        said.push_str(&format!("stack backtrace:\n{trace}\n"));
    }
    redactor().text(&said)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};

    use super::*;

    #[test]
    fn what_a_crash_says_holds_no_secret() {
        know(Redactor::new(vec!["hush-hush-9f3a".to_owned()]));
        let said =
            crash_words(&"panicked at src/x.rs:1:1:\nno hush-hush-9f3a at postgres://u:pw@h/d?token=abc");
        assert!(said.contains("no [redacted] at postgres://u:[redacted]@h/d?token=[redacted]"), "{said}");
        LogLines.write_all(b"shown").unwrap();
        assert_eq!(text("hush-hush-9f3a"), "[redacted]");
        assert_eq!(data(&["hush-hush-9f3a"]).unwrap(), serde_json::json!(["[redacted]"]));
    }

    /// Set in the process that crashes.
    const CRASHES: &str = "LUAPLAN_TEST_CRASHES";

    /// Forms of a secret in the message of a crash, each with the start of it.
    fn forms(secret: &str) -> Vec<(&'static str, String)> {
        let each = |form: fn(u8) -> String| secret.bytes().map(form).collect::<String>();
        let json = serde_json::json!(secret).to_string();
        let (head, tail) = secret.split_at(6);
        vec![
            ("hush>hu", secret.to_owned()),
            ("HUSH>HU", secret.to_ascii_uppercase()),
            ("hush%3E", url::form_urlencoded::byte_serialize(secret.as_bytes()).collect()),
            ("%68%75%73", each(|byte| format!("%{byte:02x}"))),
            ("aHVzaD5", STANDARD.encode(secret)),
            ("aHVzaD5", URL_SAFE.encode(secret)),
            ("687573683e", each(|byte| format!("{byte:02x}"))),
            ("687573683E", each(|byte| format!("{byte:02X}"))),
            ("\\u0068", each(|byte| format!("\\u{byte:04x}"))),
            ("hush>hu", serde_json::json!(json).to_string()),
            ("hush&gt;", secret.replace('>', "&gt;").replace('"', "&quot;")),
            ("hush>h", format!("{head}\n{tail}")),
            ("pw-of-u", "postgres://u:pw-of-u@h/d".to_owned()),
        ]
    }

    #[test]
    fn a_process_that_crashes_tells_no_secret() {
        const SECRET: &str = "hush>hush?9f\"3a";
        if std::env::var_os(CRASHES).is_some() {
            guard_panics();
            know(Redactor::new(vec![SECRET.to_owned()]));
            let said: Vec<String> = forms(SECRET)
                .into_iter()
                .enumerate()
                .map(|(at, (_, form))| format!("at.{at}.{form}."))
                .collect();
            panic!("{}", said.join(" "));
        }
        let crashed = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "cli::sink::tests::a_process_that_crashes_tells_no_secret", "--nocapture"])
            .env(CRASHES, "1")
            .env("RUST_BACKTRACE", "1")
            .output()
            .unwrap();
        assert!(!crashed.status.success(), "{crashed:?}");
        let said = String::from_utf8_lossy(&[crashed.stdout, crashed.stderr].concat()).into_owned();
        assert!(said.contains("stack backtrace"), "{said}");
        for (at, (trace, _)) in forms(SECRET).iter().enumerate() {
            let told = said.split(&format!("at.{at}.")).nth(1).unwrap().split(" at.").next().unwrap();
            assert!(told.contains("[redacted]") && !said.contains(trace), "{trace}: {said}");
        }
    }
}
