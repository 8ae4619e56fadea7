//! How much of one value a page for a person, or a list of an API, shows.
//!
//! A mail of hundreds of kilobytes hides the question it is part of, and puts customers' data where it is not
//! needed. An excerpt gives the size of the whole, and each place that shortens says where to find the whole.

use serde_json::{Map, Value as Json, json};

/// The most bytes of one value.
pub const SHOWN_BYTES_MAX: usize = 2 * 1024;

/// The most lines of one value.
pub const SHOWN_LINES_MAX: usize = 40;

/// The start of a text that is too long to show whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excerpt<'t> {
    /// What is shown.
    pub head: &'t str,
    /// Size of the whole text.
    pub bytes: usize,
    /// Lines of the whole text.
    pub lines: usize,
}

impl std::fmt::Display for Excerpt<'_> {
    /// The size of the whole, as `352 KiB, 26000 lines`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const KIB: usize = 1024;
        match self.bytes {
            bytes if bytes < 10 * KIB => write!(f, "{bytes} bytes")?,
            bytes => write!(f, "{} KiB", bytes.div_ceil(KIB))?,
        }
        if self.lines > 1 { write!(f, ", {} lines", self.lines) } else { Ok(()) }
    }
}

/// The start of `text`; `None` where the whole is short enough.
#[must_use]
pub fn excerpt(text: &str) -> Option<Excerpt<'_>> {
    let line_end = text.match_indices('\n').nth(SHOWN_LINES_MAX - 1).map(|(end, _)| end);
    let has_more_lines = line_end.is_some_and(|end| text.len() > end + 1);
    if text.len() <= SHOWN_BYTES_MAX && !has_more_lines {
        return None;
    }
    let end = line_end.filter(|_| has_more_lines).unwrap_or(text.len()).min(SHOWN_BYTES_MAX);
    let end = text.floor_char_boundary(end);
    Some(Excerpt { head: &text[..end], bytes: text.len(), lines: text.lines().count() })
}

/// Replaces each member that is too long by `{"shortened": true, "bytes", "head"}`, and returns the names of
/// those it replaced.
///
/// The replacement is an object, so that a client cannot send a cut text back as the value.
pub fn shorten_members(members: &mut Map<String, Json>) -> Vec<String> {
    let mut shortened = Vec::new();
    for (name, value) in members {
        let text = match &*value {
            Json::String(text) => text.clone(),
            Json::Array(_) | Json::Object(_) => value.to_string(),
            _ => continue,
        };
        if let Some(part) = excerpt(&text) {
            *value = json!({ "shortened": true, "bytes": part.bytes, "head": part.head });
            shortened.push(name.clone());
        }
    }
    shortened
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_shortened_by_bytes_or_lines_and_never_inside_a_character() {
        assert_eq!(excerpt(&"x".repeat(SHOWN_BYTES_MAX)), None);
        assert_eq!(excerpt(&"x\n".repeat(SHOWN_LINES_MAX)), None);
        let long = "\u{20ac}".repeat(SHOWN_BYTES_MAX);
        let part = excerpt(&long).unwrap();
        assert!(part.head.len() <= SHOWN_BYTES_MAX && part.head.len() > SHOWN_BYTES_MAX - 3);
        assert_eq!((part.bytes, part.to_string().as_str()), (6144, "6144 bytes"));
        let lines = "customer\n".repeat(26_000);
        let part = excerpt(&lines).unwrap();
        assert_eq!(part.head.lines().count(), SHOWN_LINES_MAX);
        assert_eq!(part.to_string(), "229 KiB, 26000 lines");
    }

    #[test]
    fn a_long_member_becomes_an_object_with_its_size_and_head() {
        let body = "b".repeat(360_000);
        let mut members = json!({ "to": "a@b", "count": 3, "body": body, "rows": vec!["a row"; 5000] });
        let members = members.as_object_mut().unwrap();
        assert_eq!(shorten_members(members), ["body", "rows"]);
        assert_eq!(members["body"]["bytes"], 360_000);
        assert_eq!(members["to"], "a@b");
        assert!(json!(members).to_string().len() < 3 * SHOWN_BYTES_MAX);
    }
}
