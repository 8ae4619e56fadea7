//! Streamed text, such as a model's answer: several pieces may hold one secret.
//!
//! Only whole words are passed on, up to where a secret may have started. So a watcher sees words as they
//! arrive, one word late, and the rest at the end of the text.

use super::Redactor;
use super::escapes::{DEPTH_MAX, Unescaped};
use super::joined::JoinedLines;
use super::percent::Decoded;

/// At most so much is held back; the end of a longer secret is not waited for.
const HELD_BYTES_MAX: usize = 16 * 1024;

/// The start of a PEM key, the start of its last line, and the end of that line.
const PEM: [&str; 3] = ["-----BEGIN ", "-----END ", "-----"];

/// What was received and not yet passed on.
#[derive(Debug)]
pub struct Pieces<'r> {
    redactor: &'r Redactor,
    held: String,
}

impl Redactor {
    /// Takes text in pieces.
    #[must_use]
    pub const fn pieces(&self) -> Pieces<'_> {
        Pieces { redactor: self, held: String::new() }
    }
}

impl Pieces<'_> {
    /// Adds a piece and returns the text that can be passed on: no secret starts in it and ends later. It still holds
    /// complete secrets, which the caller redacts.
    pub fn add(&mut self, piece: &str) -> Option<String> {
        self.held.push_str(piece);
        let settled = self.redactor.settled(&self.held);
        let rest = self.held.split_off(settled);
        self.given(rest)
    }

    /// The rest, at the end of the text.
    pub fn end(&mut self) -> Option<String> {
        self.given(String::new())
    }

    fn given(&mut self, rest: String) -> Option<String> {
        let given = std::mem::replace(&mut self.held, rest);
        (!given.is_empty()).then_some(given)
    }
}

impl Redactor {
    /// The length of the start of `text` whose redaction does not depend on what follows.
    fn settled(&self, text: &str) -> usize {
        if text.len() > HELD_BYTES_MAX {
            return text.len();
        }
        // The last word may be incomplete.
        let words = text.trim_end_matches(|c: char| !c.is_whitespace());
        let is_at_blank = words.len() == text.len();
        let unless_it_goes_on = |settled: usize, (start, end): &(usize, usize)| {
            let behind = text.get(*end..settled).unwrap_or_default();
            if behind.trim().is_empty() { settled.min(*start) } else { settled }
        };
        let found = self.known_in(text, DEPTH_MAX);
        found.iter().rev().fold(self.begun_in(words, is_at_blank, DEPTH_MAX), unless_it_goes_on)
    }

    /// Where a secret may start that continues beyond `text`, in any decoding of it; the end of `text` where none does.
    /// `is_at_blank` says that further blanks may follow.
    fn begun_in(&self, text: &str, is_at_blank: bool, depth: usize) -> usize {
        // Line breaks with blanks around them may split a secret.
        let trimmed = text.trim_end();
        let said = if is_at_blank || text[trimmed.len()..].contains('\n') { trimmed } else { text };
        let mut begun = self.known.begun_at(said).unwrap_or(text.len());
        if let Some(joined) = JoinedLines::of(said)
            && let Some(at) = self.known.begun_at(&joined.text)
        {
            begun = begun.min(joined.origin((at, joined.text.len())).0);
        }
        if self.forms.is_some()
            && let Some(at) = open_pem(text)
        {
            begun = begun.min(at);
        }
        if depth == 0 {
            return begun;
        }
        if let Some(inside) = Unescaped::of(text) {
            let end = inside.text.len();
            begun = begun.min(inside.origin((self.begun_in(&inside.text, is_at_blank, depth - 1), end)).0);
        }
        if let Some(inside) = Decoded::of(text) {
            let end = inside.text.len();
            begun = begun.min(inside.origin((self.begun_in(&inside.text, is_at_blank, depth - 1), end)).0);
        }
        begun
    }
}

/// The start of a PEM key whose end is still missing.
fn open_pem(text: &str) -> Option<usize> {
    let [begin, end, ends] = PEM;
    let at = text.rfind(begin)?;
    let last_line = text[at..].split_once(end).map(|(_, last_line)| last_line);
    (!last_line.is_some_and(|line| line.contains(ends))).then_some(at)
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::STANDARD;
    use serde_json::json;

    use super::*;
    use crate::{REDACTED, SecretForms};

    const SECRET: &str = "s3cr&t/pass word\"+";
    const PEM_KEY: &str = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY/PuoAoGCCqGSM49\n-----END EC PRIVATE KEY-----";

    fn redactor() -> Redactor {
        let forms = SecretForms::new("redact.patterns", &[]).unwrap();
        Redactor::new(vec![SECRET.to_owned()]).with_forms(forms)
    }

    fn told(redactor: &Redactor, text: &str, size: usize) -> String {
        let mut pieces = redactor.pieces();
        let characters: Vec<char> = text.chars().collect();
        let mut told: Vec<String> =
            characters.chunks(size).filter_map(|piece| pieces.add(&String::from_iter(piece))).collect();
        told.extend(pieces.end());
        told.iter().map(|text| redactor.text(text)).collect()
    }

    #[test]
    fn a_secret_in_several_pieces_is_found() {
        let redactor = redactor();
        let packed = |text: &str| json!(text).to_string().trim_matches('"').to_owned();
        let percent: String = url::form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
        let each: String = SECRET.bytes().map(|byte| format!("%{byte:02x}")).collect();
        let escaped: String = SECRET.bytes().map(|byte| format!("\\u{byte:04x}")).collect();
        let hexadecimal: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
        let digits = STANDARD.encode(SECRET);
        for form in [
            SECRET.to_owned(),
            SECRET.to_uppercase(),
            percent,
            each,
            escaped.clone(),
            escaped.replace('\\', "\\\\"),
            hexadecimal,
            digits.clone(),
            format!("{}\r\n  {}", &digits[..8], &digits[8..]),
            packed(SECRET),
            packed(&packed(SECRET)),
            "s3cr&t/pa\n\tss word\"+".to_owned(),
            packed("s3cr&t/pa\n ss word\"+"),
            "sk-abcdefghijklmnopqrstuvwx12345678".to_owned(),
            PEM_KEY.to_owned(),
            packed(PEM_KEY),
        ] {
            for text in
                [form.clone(), format!("see {form} and more"), format!("{{\"a\": \"{form}\", \"b\": 1}}")]
            {
                for size in 1..=form.len() + 4 {
                    let said = told(&redactor, &text, size);
                    assert_eq!(said, redactor.text(&text), "{size}: {text}");
                    assert!(said.contains(REDACTED), "{said}");
                }
            }
        }
    }

    #[test]
    fn ordinary_words_come_a_word_late() {
        let redactor = redactor();
        let mut pieces = redactor.pieces();
        assert_eq!(pieces.add("The answer"), Some("The ".to_owned()));
        assert_eq!(pieces.add(" is"), Some("answer ".to_owned()));
        assert_eq!(pieces.add(" s3cr&t"), Some("is ".to_owned()));
        assert_eq!(pieces.add("/pass "), None);
        assert_eq!(pieces.add("port. "), Some("s3cr&t/pass port. ".to_owned()));
        assert_eq!(pieces.end(), None);
        let word = "x".repeat(HELD_BYTES_MAX + 1);
        assert_eq!(pieces.add(&word), Some(word));
    }
}
