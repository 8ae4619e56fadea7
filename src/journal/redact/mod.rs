//! Takes secrets out of events before anyone can see or keep them.
//!
//! Three kinds of secret are known: values configuration names as secret, anywhere in any string
//! or key and in their usual disguises; values under keys that look secret, in arguments; and
//! passwords inside URLs, everywhere but in data that a replay needs exactly (results, contexts,
//! plan sources).

mod escapes;
mod event;
mod keys;
mod marks;
mod patterns;
mod values;
mod wrapped;

use aho_corasick::{AhoCorasick, MatchKind};
use serde_json::{Map, Value as Json};

use self::escapes::{DEPTH_MAX, Unescaped};
use self::keys::looks_secret;
use self::marks::{Marks, Place};
use self::patterns::{Pattern, patterns_of};
use self::wrapped::Rows;

pub(crate) use self::marks::is_marked;

/// What stands where a secret stood.
pub const REDACTED: &str = "[redacted]";

/// A shorter secret is only replaced where it is the whole string: inside other text it would
/// take out words that have nothing to do with it.
const INSIDE_TEXT_BYTES_MIN: usize = 4;

/// Which rules apply to a string besides the known secrets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// None: a replay needs the rest exactly.
    Exact,
    /// Passwords in URLs.
    Text,
    /// Passwords in URLs, and values under keys that look secret.
    Arguments,
}

/// Knows the secrets of this process and replaces them with [`REDACTED`].
#[derive(Debug, Default)]
pub struct Redactor {
    known: Known,
    /// The forms that may be broken into lines.
    base64: Known,
    short: Vec<String>,
}

impl Redactor {
    /// A redactor that knows `secrets`, and their base64 (in lines as well), percent-encoded and JSON-escaped
    /// forms, whichever of its characters are escaped.
    /// Empty ones are passed over; one shorter than four bytes is only found as a whole string.
    #[must_use]
    pub fn new(secrets: Vec<String>) -> Self {
        let (long, short): (Vec<String>, Vec<String>) = secrets
            .into_iter()
            .filter(|secret| !secret.is_empty())
            .partition(|secret| secret.len() >= INSIDE_TEXT_BYTES_MIN);
        let patterns: Vec<Pattern> = long.iter().flat_map(|secret| patterns_of(secret)).collect();
        let base64 = patterns.iter().filter(|pattern| pattern.is_base64).cloned().collect();
        Self { known: Known::of(patterns), base64: Known::of(base64), short }
    }

    /// A redactor that knows no secret values; keys and URLs are still looked at.
    #[must_use]
    pub fn without_secrets() -> Self {
        Self::default()
    }

    /// `text` without known secrets and without passwords in URLs: for messages and logs.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        self.replaced(text, Scope::Text).unwrap_or_else(|| text.to_owned())
    }

    /// Arguments without known secrets, values under secret-looking keys and passwords in URLs.
    pub fn arguments(&self, arguments: &mut Json) {
        self.json(arguments, Scope::Arguments, &Place::Top, &mut Marks::default());
    }

    /// A document without known secrets; all else stays exactly as it is.
    pub fn document(&self, document: &mut Json) {
        self.json(document, Scope::Exact, &Place::Top, &mut Marks::default());
    }

    /// Whether a document holds a known secret.
    #[must_use]
    pub fn finds_in(&self, document: &Json) -> bool {
        let (mut document, mut marks) = (document.clone(), Marks::default());
        self.json(&mut document, Scope::Exact, &Place::Top, &mut marks);
        !marks.into_pointers().is_empty()
    }

    /// `text` as `scope` has it, or nothing where it may stay.
    fn replaced(&self, text: &str, scope: Scope) -> Option<String> {
        if self.short.iter().any(|secret| secret == text) {
            return Some(REDACTED.to_owned());
        }
        let known = self.without_known(text);
        if scope == Scope::Exact {
            return known;
        }
        without_url_passwords(known.as_deref().unwrap_or(text)).or(known)
    }

    fn string(&self, text: &mut String, scope: Scope, place: &Place<'_>, marks: &mut Marks) {
        if let Some(safe) = self.replaced(text, scope) {
            *text = safe;
            marks.add(place);
        }
    }

    fn json(&self, json: &mut Json, scope: Scope, place: &Place<'_>, marks: &mut Marks) {
        match json {
            Json::String(text) => self.string(text, scope, place, marks),
            Json::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.json(item, scope, &place.item(index), marks);
                }
            }
            Json::Object(members) => self.members(members, scope, place, marks),
            Json::Null | Json::Bool(_) | Json::Number(_) => {}
        }
    }

    fn members(&self, members: &mut Map<String, Json>, scope: Scope, place: &Place<'_>, marks: &mut Marks) {
        // Names first, as a place is told by them.
        if members.keys().any(|name| self.without_known(name).is_some()) {
            for (name, value) in std::mem::take(members) {
                let replaced = self.without_known(&name);
                let is_replaced = replaced.is_some();
                let mut safe = replaced.unwrap_or(name);
                // Two keys that differed only in a secret must not become one.
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
            if scope == Scope::Arguments && looks_secret(name) && !value.is_null() && !value.is_boolean() {
                *value = REDACTED.into();
                marks.add(&place.name(name));
            } else {
                self.json(value, scope, &place.name(name), marks);
            }
        }
    }

    /// `text` with every known secret replaced, or nothing where there is none.
    fn without_known(&self, text: &str) -> Option<String> {
        let mut safe = String::new();
        let mut kept = 0;
        for (start, end) in self.known_in(text, DEPTH_MAX) {
            // The same secret may be found in two readings of the text.
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
    /// Where known secrets stand, in order; also where line breaks, or escapes of JSON `depth` deep, hide them.
    fn known_in(&self, text: &str, depth: usize) -> Vec<(usize, usize)> {
        // Most texts of a result are too short for any form of any secret: escapes and breaks make one longer.
        if self.known.matcher.is_none() || text.len() < self.known.shortest_bytes {
            return Vec::new();
        }
        let mut ranges: Vec<(usize, usize)> = self.known.ranges(text).collect();
        if self.base64.matcher.is_some()
            && let Some(rows) = Rows::of(text)
        {
            ranges.extend(self.base64.ranges(&rows.text).map(|range| rows.origin(range)));
        }
        if depth > 0
            && let Some(inside) = Unescaped::of(text)
        {
            let hidden = self.known_in(&inside.text, depth - 1);
            ranges.extend(hidden.into_iter().map(|range| inside.origin(range)));
        }
        ranges.sort_unstable();
        ranges
    }
}

/// Texts to look for, all in one pass.
#[derive(Debug, Default)]
struct Known {
    matcher: Option<AhoCorasick>,
    patterns: Vec<Pattern>,
    shortest_bytes: usize,
}

impl Known {
    fn of(patterns: Vec<Pattern>) -> Self {
        let matcher = (!patterns.is_empty())
            .then(|| {
                AhoCorasick::builder()
                    .match_kind(MatchKind::LeftmostLongest)
                    .build(patterns.iter().map(|pattern| pattern.text.as_str()))
            })
            .and_then(|built| {
                // The automaton can only fail on sizes far beyond any configuration.
                built.inspect_err(|error| tracing::error!(%error, "the redactor could not be built")).ok()
            });
        let shortest_bytes = patterns.iter().map(|pattern| pattern.text.len()).min().unwrap_or_default();
        Self { matcher, patterns, shortest_bytes }
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

/// `scheme://user:password@host` without the password, or nothing where there is none.
fn without_url_passwords(text: &str) -> Option<String> {
    let mut safe = String::new();
    let mut kept = 0;
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        let rest = &text[start..];
        let end = rest
            .find(|c: char| matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '`') || c.is_whitespace())
            .unwrap_or(rest.len());
        let authority = &rest[..end];
        let Some(host_at) = authority.rfind('@') else { continue };
        let Some(colon_at) = authority[..host_at].find(':') else { continue };
        if start + colon_at + 1 < kept {
            continue;
        }
        safe.push_str(&text[kept..=start + colon_at]);
        safe.push_str(REDACTED);
        kept = start + host_at;
    }
    if kept == 0 {
        return None;
    }
    safe.push_str(&text[kept..]);
    Some(safe)
}

#[cfg(test)]
mod tests;
