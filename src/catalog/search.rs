//! Finding tools by words.
//!
//! A tool's name, description and parameters count, the name more. Ties by name, so the same words give the same order everywhere.

use std::collections::BTreeSet;
use std::sync::Arc;

use aho_corasick::AhoCorasick;

use super::relevance::{WeightedWords, relevance};
use super::{Catalog, ToolSpec};

/// A word of the name counts as so many of the description.
const NAME_WEIGHT: u32 = 4;
/// A parameter's name counts as so many words of the description.
const PARAMETER_WEIGHT: u32 = 2;

/// A tool that shares words with a query.
#[derive(Debug, Clone)]
pub struct FoundTool {
    /// The tool.
    pub spec: Arc<ToolSpec>,
    /// How well it fits, above zero; comparable only within one search.
    pub score: f64,
}

/// The tools that share a word with `words`, best first, ties by name.
#[must_use]
pub fn search(catalog: &Catalog, words: &str) -> Vec<FoundTool> {
    let texts: Vec<WeightedWords> = catalog.iter().map(|spec| weighted_words(spec)).collect();
    let mut found: Vec<FoundTool> = catalog
        .iter()
        .zip(relevance(&texts, words))
        .map(|(spec, score)| FoundTool { spec: Arc::clone(spec), score })
        .filter(|found| found.score > 0.0)
        .collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.spec.name.cmp(&b.spec.name)));
    found
}

/// The tools whose name stands in `text` as a word of its own.
#[must_use]
pub fn named_in<'a>(catalog: &'a Catalog, text: &str) -> BTreeSet<&'a str> {
    let names: Vec<&str> = catalog.names().collect();
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let Ok(finder) = AhoCorasick::new(&names) else { return BTreeSet::new() };
    finder
        .find_overlapping_iter(text)
        .filter(|found| {
            let before = text.get(..found.start()).and_then(|before| before.chars().next_back());
            let after = text.get(found.end()..).and_then(|after| after.chars().next());
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
        .filter_map(|found| names.get(found.pattern().as_usize()).copied())
        .collect()
}

fn weighted_words(spec: &ToolSpec) -> WeightedWords {
    let mut words = WeightedWords::default();
    words.add(&spec.name, NAME_WEIGHT);
    words.add(&spec.description, 1);
    for (name, schema) in spec.parameters() {
        words.add(name, PARAMETER_WEIGHT);
        if let Some(description) = schema.get("description").and_then(serde_json::Value::as_str) {
            words.add(description, 1);
        }
    }
    words
}
