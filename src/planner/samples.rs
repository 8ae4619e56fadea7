//! Samples of data that a person shares with the model that plans: bounded, and marked as data.

use serde::{Deserialize, Serialize};

use luaplan_base::ContentHash;
use luaplan_llm::{count_tokens, marked_data};

/// The most samples of one task.
pub const SAMPLES_MAX: usize = 5;
/// The most lines, bytes and tokens of one sample.
const LINES_MAX: usize = 20;
const BYTES_MAX: usize = 4_096;
const TOKENS_MAX: u64 = 1_000;

const INTRODUCTION: &str = "\
The beginnings of data that the program will read, shared by a person so that names and forms need not be guessed: columns, \
separators, kinds of values. What follows may be other. Write none of their values into the program.";

/// The beginning of a file, a web page or a table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sample {
    /// What it is the beginning of, as the person named it.
    pub from: String,
    /// What it says. Untrusted.
    text: String,
    /// Whether the data goes on after it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
}

impl Sample {
    /// The first lines of `text`, as far as a sample goes. `goes_on` where the data has more than `text`.
    #[must_use]
    pub fn new(from: impl Into<String>, text: &str, goes_on: bool) -> Self {
        let lines: usize = text.split_inclusive('\n').take(LINES_MAX).map(str::len).sum();
        let mut end = text.floor_char_boundary(lines.min(BYTES_MAX));
        // Each round takes a quarter, so that the number of tokens is counted a few times alone.
        while text.get(..end).is_some_and(|text| count_tokens(text) > TOKENS_MAX) {
            end = text.floor_char_boundary(end - end / 4);
        }
        let shown = text.get(..end).unwrap_or_default();
        Self { from: from.into(), text: shown.to_owned(), is_cut: goes_on || end < text.len() }
    }

    /// What the model gets.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the data goes on after it.
    #[must_use]
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Hash of the text.
    #[must_use]
    pub fn hash(&self) -> ContentHash {
        ContentHash::of(self.text.as_bytes())
    }
}

/// The samples of a prompt; empty where there are none.
pub(super) fn samples_text(samples: &[Sample]) -> String {
    if samples.is_empty() {
        return String::new();
    }
    let one = |sample: &Sample| {
        let rest = if sample.is_cut { ", of which there is more" } else { ", whole" };
        format!("Of {:?}{rest}. {}", sample.from, marked_data(sample.text.trim_end_matches('\n')))
    };
    let samples: Vec<String> = samples.iter().map(one).collect();
    format!("{INTRODUCTION}\n\n{}", samples.join("\n\n"))
}
