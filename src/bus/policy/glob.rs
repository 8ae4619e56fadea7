//! Text patterns of the policy file: `*` stands for any characters, `?` for one.

use std::fmt;

use super::fit::Fit;

/// A pattern.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Glob(String);

impl Glob {
    /// The pattern `text`; every text is a pattern.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The pattern as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether `text` matches. A match that only ignores case is undecidable: hosts
    /// and mail domains have no case, paths do.
    #[must_use]
    pub fn fit(&self, text: &str) -> Fit {
        if matches(&self.0, text) {
            return Fit::Yes;
        }
        if matches(&self.0.to_lowercase(), &text.to_lowercase()) { Fit::Maybe } else { Fit::No }
    }
}

impl fmt::Display for Glob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Backtracks only to the last `*`, so the time is bounded by the product of the lengths.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut at_pattern, mut at_text) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at_text < text.len() {
        match pattern.get(at_pattern) {
            Some('*') => {
                star = Some((at_pattern, at_text));
                at_pattern += 1;
            }
            Some(wanted) if *wanted == '?' || *wanted == text[at_text] => {
                at_pattern += 1;
                at_text += 1;
            }
            _ => {
                let Some((place, taken)) = star else { return false };
                star = Some((place, taken + 1));
                at_pattern = place + 1;
                at_text = taken + 1;
            }
        }
    }
    pattern[at_pattern..].iter().all(|rest| *rest == '*')
}
