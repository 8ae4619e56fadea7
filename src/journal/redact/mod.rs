//! Removes secrets from events before they are recorded or shown.
//!
//! Four kinds of secret are found: values that the configuration names as secret, anywhere in any string
//! or key and in their usual encodings; keys by their form (`rules`), anywhere; values under keys whose names mark
//! secrets, in arguments; and passwords and keys inside URLs, everywhere but in data that a replay needs exactly
//! (results, contexts, plan sources).

mod escapes;
mod event;
mod joined;
mod keys;
mod marks;
mod patterns;
mod percent;
mod pieces;
mod rules;
mod urls;
mod values;
mod wrapped;

use std::borrow::Cow;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value as Json};

use self::escapes::{DEPTH_MAX, Unescaped};
use self::joined::JoinedLines;
use self::marks::{Marks, Position};
use self::patterns::{SecretPattern, patterns_of};
use self::percent::Decoded;
use self::urls::without_url_secrets;
use self::wrapped::JoinedBase64;

pub use self::keys::looks_secret;
pub use self::marks::{REDACTED, is_marked};
pub use self::pieces::Pieces;
pub use self::rules::SecretForms;

/// The least length of a secret. A shorter one would match unrelated text, and the removals would
/// reveal it.
pub const SECRET_BYTES_MIN: usize = 8;

/// The rules that apply to a string besides the known secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RedactionScope {
    /// None: a replay needs the rest unchanged.
    Exact,
    /// Passwords and keys in URLs.
    Text,
    /// Those, also in parts of URLs, and values under keys whose names mark secrets.
    Arguments,
}

/// Replaces the secrets of this process with [`REDACTED`].
#[derive(Debug, Default)]
pub struct Redactor {
    known: Known,
    /// The forms that line breaks may split.
    base64: Known,
    /// Secrets that data may hold as numbers.
    numbers: Vec<String>,
    forms: Option<SecretForms>,
}

impl Redactor {
    /// A redactor for `secrets` and their base64 (also broken into lines), hexadecimal, percent-encoded and
    /// JSON-escaped forms, whichever characters are escaped.
    /// It ignores secrets shorter than [`SECRET_BYTES_MIN`]: the configuration refuses them.
    #[must_use]
    pub fn new(secrets: Vec<String>) -> Self {
        let secrets: Vec<String> =
            secrets.into_iter().filter(|secret| secret.len() >= SECRET_BYTES_MIN).collect();
        let patterns: Vec<SecretPattern> = secrets.iter().flat_map(|secret| patterns_of(secret)).collect();
        let base64 = patterns.iter().filter(|pattern| pattern.is_base64).cloned().collect();
        let is_number = |secret: &String| secret.bytes().all(|byte| byte.is_ascii_digit());
        let numbers = secrets.into_iter().filter(is_number).collect();
        Self { known: Known::of(patterns), base64: Known::of(base64), numbers, forms: None }
    }

    /// The same, which also finds keys by their form.
    #[must_use]
    pub fn with_forms(self, forms: SecretForms) -> Self {
        Self { forms: Some(forms), ..self }
    }

    /// A redactor without secret values; names of keys and URLs still apply.
    #[must_use]
    pub fn without_secrets() -> Self {
        Self::default()
    }

    /// `text` without known secrets and without passwords in URLs: for messages and logs.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        self.replaced(text, RedactionScope::Text).unwrap_or_else(|| text.to_owned())
    }

    /// `text` without known secrets, and otherwise unchanged: for data that is text.
    #[must_use]
    pub fn exact_text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.without_known(text).map_or(Cow::Borrowed(text), Cow::Owned)
    }

    /// JSON as text without known secrets, which it may hold as numbers and over several lines.
    #[must_use]
    pub fn exact_json<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.without_known(text).is_none() {
            return Cow::Borrowed(text);
        }
        serde_json::from_str(text).map_or_else(
            |_| self.exact_text(text),
            |mut document: Json| {
                self.document(&mut document);
                Cow::Owned(document.to_string())
            },
        )
    }

    /// Arguments without known secrets, values under keys whose names mark secrets, and passwords in URLs.
    pub fn arguments(&self, arguments: &mut Json) {
        self.json(arguments, RedactionScope::Arguments, &Position::Top, &mut Marks::default());
    }

    /// A document without known secrets, and otherwise unchanged.
    pub fn document(&self, document: &mut Json) {
        self.json(document, RedactionScope::Exact, &Position::Top, &mut Marks::default());
    }

    /// Redacts a JSON message of an edge, such as an error, as [`Redactor::text`] does.
    pub fn message(&self, message: &mut Json) {
        self.json(message, RedactionScope::Text, &Position::Top, &mut Marks::default());
    }

    /// Whether a document holds a known secret.
    #[must_use]
    pub fn finds_in(&self, document: &Json) -> bool {
        let (mut document, mut marks) = (document.clone(), Marks::default());
        self.json(&mut document, RedactionScope::Exact, &Position::Top, &mut marks);
        !marks.into_pointers().is_empty()
    }

    /// `text` redacted by the rules of `scope`; `None` where it is unchanged.
    fn replaced(&self, text: &str, scope: RedactionScope) -> Option<String> {
        let known = self.without_known(text);
        if scope == RedactionScope::Exact {
            return known;
        }
        without_url_secrets(known.as_deref().unwrap_or(text), scope == RedactionScope::Arguments).or(known)
    }

    fn string(&self, text: &mut String, scope: RedactionScope, place: &Position<'_>, marks: &mut Marks) {
        if let Some(safe) = self.replaced(text, scope) {
            *text = safe;
            marks.add(place);
        }
    }

    fn json(&self, json: &mut Json, scope: RedactionScope, place: &Position<'_>, marks: &mut Marks) {
        match json {
            Json::String(text) => self.string(text, scope, place, marks),
            Json::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.json(item, scope, &place.item(index), marks);
                }
            }
            Json::Object(members) => self.members(members, scope, place, marks),
            Json::Number(number) if self.is_secret_number(number) => {
                *json = REDACTED.into();
                marks.add(place);
            }
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    /// Few secrets consist of digits alone, so numbers are seldom formatted for this.
    fn is_secret_number(&self, number: &impl ToString) -> bool {
        !self.numbers.is_empty() && self.numbers.contains(&number.to_string())
    }

    fn members(
        &self,
        members: &mut Map<String, Json>,
        scope: RedactionScope,
        place: &Position<'_>,
        marks: &mut Marks,
    ) {
        // Names first, as pointers consist of them.
        if members.keys().any(|name| self.without_known(name).is_some()) {
            for (name, value) in std::mem::take(members) {
                let replaced = self.without_known(&name);
                let is_replaced = replaced.is_some();
                let mut safe = replaced.unwrap_or(name);
                // Two keys that differ only in a secret must stay two.
                while members.contains_key(&safe) {
                    safe.push('\'');
                }
                if is_replaced {
                    marks.add(&place.name(&safe));
                }
                members.insert(safe, value);
            }
        }
        for (name, value) in members.iter_mut() {
            if scope == RedactionScope::Arguments
                && looks_secret(name)
                && !value.is_null()
                && !value.is_boolean()
            {
                *value = REDACTED.into();
                marks.add(&place.name(name));
            } else {
                self.json(value, scope, &place.name(name), marks);
            }
        }
    }

    /// `text` with every known secret replaced; `None` where there is none.
    fn without_known(&self, text: &str) -> Option<String> {
        let mut safe = String::new();
        let mut kept = 0;
        for (start, end) in self.known_in(text, DEPTH_MAX) {
            // The same secret may be found in two decodings of the text.
            if kept == 0 || start >= kept {
                safe.push_str(text.get(kept..start).unwrap_or_default());
                safe.push_str(REDACTED);
            }
            kept = end.max(kept);
        }
        if kept == 0 {
            return None;
        }
        safe.push_str(text.get(kept..).unwrap_or_default());
        Some(safe)
    }
}

impl Redactor {
    /// The ranges of secrets, in order, including those hidden by line breaks, percent-encoding or `depth` levels of JSON
    /// escapes.
    fn known_in(&self, text: &str, depth: usize) -> Vec<(usize, usize)> {
        let mut ranges: Vec<(usize, usize)> =
            self.forms.iter().flat_map(|forms| forms.ranges(text)).collect();
        // Most texts of a result are shorter than any form of any secret; escapes and breaks only make a form longer.
        let may_hold_known = self.known.matcher.is_some() && text.len() >= self.known.shortest_bytes;
        if may_hold_known {
            ranges.extend(self.known.ranges(text));
            if let Some(rows) = self.base64.matcher.as_ref().and_then(|_| JoinedBase64::of(text)) {
                ranges.extend(self.base64.ranges(&rows.text).map(|range| rows.origin(range)));
            }
            if let Some(joined) = JoinedLines::of(text) {
                ranges.extend(self.known.ranges(&joined.text).map(|range| joined.origin(range)));
            }
        }
        if depth > 0 && (may_hold_known || self.forms.is_some()) {
            if let Some(inside) = Unescaped::of(text) {
                let hidden = self.known_in(&inside.text, depth - 1);
                ranges.extend(hidden.into_iter().map(|range| inside.origin(range)));
            }
            if let Some(inside) = Decoded::of(text) {
                let hidden = self.known_in(&inside.text, depth - 1);
                ranges.extend(hidden.into_iter().map(|range| inside.origin(range)));
            }
        }
        ranges.sort_unstable();
        ranges
    }
}

/// The texts to find, all in one pass.
#[derive(Debug, Default)]
struct Known {
    matcher: Option<AhoCorasick>,
    /// In the order of their texts.
    patterns: Vec<SecretPattern>,
    shortest_bytes: usize,
    longest_bytes: usize,
}

impl Known {
    fn of(mut patterns: Vec<SecretPattern>) -> Self {
        patterns.sort_by(|one, other| one.text.cmp(&other.text));
        let matcher = (!patterns.is_empty())
            .then(|| {
                AhoCorasick::builder()
                    .match_kind(MatchKind::LeftmostLongest)
                    .build(patterns.iter().map(|pattern| pattern.text.as_str()))
            })
            .and_then(|built| {
                // The automaton fails only for sizes far beyond any configuration.
                built.inspect_err(|error| tracing::error!(%error, "the redactor could not be built")).ok()
            });
        let bytes = || patterns.iter().map(|pattern| pattern.text.len());
        let (shortest_bytes, longest_bytes) =
            (bytes().min().unwrap_or_default(), bytes().max().unwrap_or_default());
        Self { matcher, patterns, shortest_bytes, longest_bytes }
    }

    /// The first place where a form may start that continues beyond the end of `text`.
    fn begun_at(&self, text: &str) -> Option<usize> {
        let text = text.as_bytes();
        (text.len().saturating_sub(self.longest_bytes)..text.len()).find(|start| {
            let end = text.get(*start..).unwrap_or_default();
            let next = self.patterns.partition_point(|pattern| pattern.text.as_bytes() < end);
            self.patterns.get(next).is_some_and(|pattern| pattern.text.as_bytes().starts_with(end))
        })
    }

    fn ranges<'a>(
        &'a self,
        text: &'a (impl AsRef<[u8]> + ?Sized),
    ) -> impl Iterator<Item = (usize, usize)> + 'a {
        let text = text.as_ref();
        self.matcher.iter().flat_map(move |matcher| matcher.find_iter(text)).map(move |found| {
            self.patterns[found.pattern().as_usize()].widen(text, found.start(), found.end())
        })
    }
}

#[cfg(test)]
mod tests;
