//! Text that comes in pieces, such as a model's answer: a secret may stand in several of them.
//!
//! Only what is settled is handed on: whole words, up to where a secret may have begun. So a watcher sees words as they
//! come, a word late, and the end of the text when it is there.

use super::Redactor;
use super::escapes::{DEPTH_MAX, Unescaped};
use super::joined::Joined;
use super::percent::Decoded;

/// So much is held back at most: what is longer is no secret whose end is waited for.
const HELD_BYTES_MAX: usize = 16 * 1024;

/// How a key that stands on several lines begins, and how its last line does, and how that line ends.
const PEM: [&str; 3] = ["-----BEGIN ", "-----END ", "-----"];

/// What came and was not handed on yet.
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
    /// Takes the next piece, and gives what is settled by it: no secret begins there and ends later. Secrets that stand
    /// in it whole are still there, for who tells it to take them out and to say so.
    pub fn add(&mut self, piece: &str) -> Option<String> {
        self.held.push_str(piece);
        let settled = self.redactor.settled(&self.held);
        let rest = self.held.split_off(settled);
        self.given(rest)
    }

    /// What is left at the end of the text.
    pub fn end(&mut self) -> Option<String> {
        self.given(String::new())
    }

    fn given(&mut self, rest: String) -> Option<String> {
        let given = std::mem::replace(&mut self.held, rest);
        (!given.is_empty()).then_some(given)
    }
}

impl Redactor {
    /// How much of `text` stays as it is judged now, whatever follows.
    fn settled(&self, text: &str) -> usize {
        if text.len() > HELD_BYTES_MAX {
            return text.len();
        }
        // The last word may go on.
        let words = text.trim_end_matches(|c: char| !c.is_whitespace());
        let is_at_blank = words.len() == text.len();
        let unless_it_goes_on = |settled: usize, (start, end): &(usize, usize)| {
            let behind = text.get(*end..settled).unwrap_or_default();
            if behind.trim().is_empty() { settled.min(*start) } else { settled }
        };
        let found = self.known_in(text, DEPTH_MAX);
        found.iter().rev().fold(self.begun_in(words, is_at_blank, DEPTH_MAX), unless_it_goes_on)
    }

    /// Where a secret may have begun that goes on behind `text`, in any reading of it; the end of `text` where none has.
    /// `is_at_blank` says that further blanks may follow.
    fn begun_in(&self, text: &str, is_at_blank: bool, depth: usize) -> usize {
        // A secret may be broken into lines, with blanks around the break.
        let trimmed = text.trim_end();
        let said = if is_at_blank || text[trimmed.len()..].contains('\n') { trimmed } else { text };
        let mut begun = self.known.begun_at(said).unwrap_or(text.len());
        if let Some(joined) = Joined::of(said)
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

/// Where a key on several lines begins that has no end yet.
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
