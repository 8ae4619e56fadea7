//! The forms a secret is written in, what is left of each, and the table of forms and sinks.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE};
use serde_json::{Value as Json, json};

/// A configured secret. Both alphabets of base64 write it differently, and HTML, JSON and addresses escape it.
pub(super) const SECRET: &str = "Canary-7>?fa+9/zQ&\"w~";
/// Another, which is printed in two parts with a call between them.
pub(super) const BETWEEN: &str = "Betwixt-41c7-9d2e";
pub(super) const DATABASE: &str = "Dbpass-41c7x";
pub(super) const MAIL: &str = "Mailpass-88d2";
pub(super) const MODEL: &str = "Modelkey-5e5e5e5e";
pub(super) const SERVICE: &str = "Servicekey-0123456789abcdef";
const OPENAI: &str = "sk-abcdefghijklmnopqrstuvwx12345678";
const OWN: &str = "acme_0123456789abcdef";
const JWT: &str =
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U";
const PEM: &str = "-----BEGIN PRIVATE KEY-----\nMIIBVAIBADANBgkqhkiG9w0BAQEFAASCAT4wggE6AgEAAkEAq7BFUpkGp3+LQmlQ\n\
                   Yx2eqzDV\n-----END PRIVATE KEY-----";
const REDACTED: &str = "[redacted]";

/// Where a form can stand at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reach {
    /// In any text.
    Anywhere,
    /// In what is said with a line end after it, where the next line follows.
    Lines,
    /// Only where all that a run printed stands together.
    Whole,
}

/// One way to write a secret.
pub(super) struct Form {
    pub(super) name: &'static str,
    pub(super) text: String,
    /// What a sink has in its place.
    left: String,
    /// A part that stands in no sink.
    trace: String,
    pub(super) reach: Reach,
    /// Whether it is taken out of words alone: results keep their addresses as they are.
    pub(super) in_words: bool,
}

impl Form {
    fn of(name: &'static str, text: impl Into<String>) -> Self {
        let text = text.into();
        let trace = text.chars().take(8).collect();
        Self { name, text, left: REDACTED.to_owned(), trace, reach: Reach::Anywhere, in_words: false }
    }

    /// With words around the secret, which stay.
    fn around(name: &'static str, before: &str, secret: &str, after: &str) -> Self {
        let left = format!("{before}{REDACTED}{after}");
        let trace = secret.chars().take(8).collect();
        Self { left, trace, ..Self::of(name, format!("{before}{secret}{after}")) }
    }

    fn in_words(self) -> Self {
        Self { in_words: true, ..self }
    }

    fn reaching(self, reach: Reach) -> Self {
        Self { reach, ..self }
    }

    /// As plans, prompts and paths have it.
    pub(super) fn marked(&self) -> String {
        format!("at.{}.{}.end", self.name, self.text)
    }

    /// As a sink must have it.
    fn expected(&self) -> String {
        format!("at.{}.{}.end", self.name, self.left)
    }
}

fn percent(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02x}")).collect()
}

fn hexadecimal(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02x}")).collect()
}

fn quoted(text: &str) -> String {
    json!(text).to_string().trim_matches('"').to_owned()
}

/// Every form.
pub(super) fn forms() -> Vec<Form> {
    let encoded: String = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
    let escaped: String = SECRET.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let html = SECRET.replace('&', "&amp;").replace('>', "&gt;").replace('"', "&quot;");
    let pair = STANDARD.encode(format!("me:{SECRET}"));
    let digits = STANDARD.encode(SECRET);
    let (head, tail) = SECRET.split_at(11);
    vec![
        Form::of("as_is", SECRET),
        Form::of("upper", SECRET.to_ascii_uppercase()),
        Form::of("lower", SECRET.to_ascii_lowercase()),
        Form::of("percent", encoded.clone()),
        Form::of("percent_each", percent(SECRET)),
        Form::of("base64", digits.clone()),
        Form::of("base64_url", URL_SAFE.encode(SECRET)),
        Form::around("base64_pair", &pair[..4], &pair[4..], ""),
        Form::of("base64_lines", format!("{}\n  {}", &digits[..12], &digits[12..])),
        Form::of("hex", hexadecimal(SECRET)),
        Form::of("hex_upper", hexadecimal(SECRET).to_uppercase()),
        Form::of("json", quoted(SECRET)),
        Form::of("json_twice", quoted(&quoted(SECRET))),
        Form::of("json_escaped", escaped),
        Form::of("html", html),
        Form::around("url", "https://me:", &encoded, "@h.example/"),
        Form::of("lines", format!("{head}\n{tail}")),
        Form::of("two_prints", format!("{head}\n{tail}")).reaching(Reach::Lines),
        Form::of("call_between", format!("{}\n{}", &BETWEEN[..8], &BETWEEN[8..])).reaching(Reach::Whole),
        Form::around("short_in_url", "https://me:", "pw-3x7q", "@h.example/").in_words(),
        Form::around("in_query", "https://h.example/?token=", "tk-41c7z", "&x=1").in_words(),
        Form::of("database", DATABASE),
        Form::of("mail", MAIL),
        Form::of("model", MODEL),
        Form::of("service", SERVICE),
        Form::of("own_pattern", OWN),
        Form::of("openai", OPENAI),
        Form::of("jwt", JWT),
        Form { trace: "MIIBVAIB".to_owned(), ..Form::of("pem", PEM) },
    ]
}

/// A plan's context. It holds the texts reversed, so that its run loses nothing and can resume.
pub(super) fn context(ends: &str) -> Json {
    let backwards = |form: &Form| {
        json!({
            "name": form.name,
            "text": form.text.chars().rev().collect::<String>(),
            "in_words": form.in_words,
        })
    };
    let plain: Vec<Json> =
        forms().iter().filter(|form| form.reach == Reach::Anywhere).map(backwards).collect();
    let broken: Vec<Json> =
        forms().iter().filter(|form| form.reach != Reach::Anywhere).map(backwards).collect();
    json!({ "forms": plain, "broken": broken, "ends": ends })
}

/// All that can stand in one text, with what is taken out of words alone or without it.
pub(super) fn all_marked(in_words: bool) -> String {
    let fits = |form: &Form| form.reach == Reach::Anywhere && (in_words || !form.in_words);
    let marked = forms().into_iter().filter(fits).map(|form| form.marked());
    marked.collect::<Vec<_>>().join(" ")
}

/// What a sink gives out, in which forms the secret went in there.
struct Sink {
    name: String,
    text: String,
    reach: Reach,
    words: bool,
}

/// Every sink that was read, to be judged at once: a red cell should not hide another.
#[derive(Default)]
pub(super) struct Table(Vec<Sink>);

impl Table {
    /// A sink that words went to.
    pub(super) fn words(&mut self, name: impl Into<String>, reach: Reach, text: impl Into<String>) {
        self.0.push(Sink { name: name.into(), text: text.into(), reach, words: true });
    }

    /// A sink that only data went to.
    pub(super) fn data(&mut self, name: impl Into<String>, text: impl Into<String>) {
        self.0.push(Sink { name: name.into(), text: text.into(), reach: Reach::Anywhere, words: false });
    }

    /// Fails the test where a form did not reach a sink, or stands in it.
    pub(super) fn judge(&self) {
        let forms = forms();
        let red: Vec<String> =
            self.0.iter().flat_map(|sink| forms.iter().filter_map(|form| sink.cell(form))).collect();
        assert!(red.is_empty(), "{} red cells:\n{}", red.len(), red.join("\n"));
    }
}

impl Sink {
    /// What is wrong with one cell.
    fn cell(&self, form: &Form) -> Option<String> {
        if form.reach > self.reach || form.in_words && !self.words {
            return None;
        }
        let readings = readings(&self.text);
        for reading in &readings {
            if let Some(at) = reading.find(&form.trace) {
                return Some(format!("{}: holds `{}`: {}", self.name, form.name, around(reading, at)));
            }
        }
        let expected = form.expected();
        // Errors at the command line hide passwords of addresses with stars.
        let is_there = readings.iter().any(|reading| reading.replace("***", REDACTED).contains(&expected));
        (!is_there).then(|| {
            let mark = format!("at.{}.", form.name);
            let seen = self.text.find(&mark).map_or("nothing", |at| around(&self.text, at));
            format!("{}: `{}` was not reached: {seen}", self.name, form.name)
        })
    }
}

/// The text as it is, and as who reads it unpacks it: JSON in JSON, percent signs.
fn readings(text: &str) -> Vec<String> {
    let mut readings = vec![text.to_owned()];
    for _ in 0..3 {
        let last = readings.last().map_or("", String::as_str);
        readings.push(unescaped(last));
    }
    readings
}

fn unescaped(text: &str) -> String {
    let mut read = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        read.push_str(&rest[..at]);
        rest = &rest[at + 1..];
        let code = rest.strip_prefix('u').and_then(|digits| digits.get(..4));
        let code = code.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
        let (character, length) = match (code, rest.chars().next()) {
            (Some(character), _) => (character, 5),
            (None, Some('n')) => ('\n', 1),
            (None, Some(other)) => (other, other.len_utf8()),
            (None, None) => break,
        };
        read.push(character);
        rest = &rest[length..];
    }
    read.push_str(rest);
    read
}

fn around(text: &str, at: usize) -> &str {
    let (from, to) = (
        text.floor_char_boundary(at.saturating_sub(80)),
        text.ceil_char_boundary((at + 120).min(text.len())),
    );
    &text[from..to]
}
