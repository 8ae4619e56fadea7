//! Finding tools by words: full-text ranking over manifests.
//!
//! BM25 over a tool's name, description and parameters, the name counted more. Exact arithmetic in
//! a fixed order and ties by name, so the same words give the same order everywhere.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use aho_corasick::AhoCorasick;

use super::{Catalog, ToolSpec};

/// How fast a repeated word in one manifest stops to add score.
const SATURATION: f64 = 1.2;
/// How much a manifest's length lowers its score.
const LENGTH_WEIGHT: f64 = 0.75;
/// A word of the name counts as so many of the description.
const NAME_WEIGHT: u32 = 4;
/// A parameter's name counts as so many words of the description.
const PARAMETER_WEIGHT: u32 = 2;

/// Words that say nothing about what a tool does.
const EMPTY_WORDS: [&str; 48] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "do",
    "each", "every", "for", "from", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my",
    "not", "of", "on", "one", "or", "our", "so", "than", "that", "the", "their", "then", "there", "they",
    "this", "to", "was", "with",
];

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
    let documents: Vec<(&Arc<ToolSpec>, BTreeMap<String, u32>)> =
        catalog.iter().map(|spec| (spec, counts(spec))).collect();
    if documents.is_empty() {
        return Vec::new();
    }
    let lengths: Vec<f64> =
        documents.iter().map(|(_, counts)| f64::from(counts.values().sum::<u32>())).collect();
    let mean_length = lengths.iter().sum::<f64>() / as_f64(documents.len());
    let query: BTreeSet<String> = terms(words).collect();
    let weights: Vec<(&String, f64)> = query
        .iter()
        .map(|term| {
            let with = as_f64(documents.iter().filter(|(_, counts)| counts.contains_key(term)).count());
            let rarity = (1.0 + (as_f64(documents.len()) - with + 0.5) / (with + 0.5)).ln();
            (term, rarity)
        })
        .collect();
    let mut found: Vec<FoundTool> = documents
        .iter()
        .zip(&lengths)
        .map(|((spec, counts), length)| {
            let dampening = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean_length);
            let score = weights
                .iter()
                .filter_map(|(term, rarity)| {
                    let count = f64::from(*counts.get(*term)?);
                    Some(rarity * count * (SATURATION + 1.0) / (count + dampening))
                })
                .sum();
            FoundTool { spec: Arc::clone(spec), score }
        })
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

fn counts(spec: &ToolSpec) -> BTreeMap<String, u32> {
    let mut counts = BTreeMap::new();
    let mut add = |text: &str, weight: u32| {
        for term in terms(text) {
            *counts.entry(term).or_default() += weight;
        }
    };
    add(&spec.name, NAME_WEIGHT);
    add(&spec.description, 1);
    for (name, schema) in spec.parameters() {
        add(name, PARAMETER_WEIGHT);
        if let Some(description) = schema.get("description").and_then(serde_json::Value::as_str) {
            add(description, 1);
        }
    }
    counts
}

/// The words of a text that say something, without their endings: `listInvoices` is `list`, `invoice`.
fn terms(text: &str) -> impl Iterator<Item = String> {
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars() {
        let starts_anew = was_lower && c.is_uppercase();
        if (starts_anew || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase() || c.is_numeric();
    }
    words.push(word);
    words
        .into_iter()
        .filter(|word| !word.is_empty() && !EMPTY_WORDS.contains(&word.as_str()))
        .map(|word| stem(&word))
}

/// Without the endings that English puts on the same word. Crude: it only has to cut both sides alike.
fn stem(word: &str) -> String {
    if !word.is_ascii() || word.len() < 4 {
        return word.to_owned();
    }
    let singular = match word {
        _ if word.ends_with("ies") => format!("{}y", word.trim_end_matches("ies")),
        _ if ["sses", "xes", "ches", "shes", "zes"].iter().any(|end| word.ends_with(end)) => {
            word.strip_suffix("es").unwrap_or(word).to_owned()
        }
        _ if word.ends_with('s') && !["ss", "us", "is"].iter().any(|end| word.ends_with(end)) => {
            word.strip_suffix('s').unwrap_or(word).to_owned()
        }
        _ => word.to_owned(),
    };
    for end in ["ing", "ed"] {
        if let Some(root) = singular.strip_suffix(end)
            && root.len() >= 3
            && root.contains(['a', 'e', 'i', 'o', 'u', 'y'])
        {
            let doubled = root.len() > 3 && {
                let bytes = root.as_bytes();
                bytes.last() == bytes.get(bytes.len() - 2) && !root.ends_with(['l', 's', 'z'])
            };
            let root = if doubled { root.get(..root.len() - 1).unwrap_or(root) } else { root };
            return root.trim_end_matches('e').to_owned();
        }
    }
    if singular.len() > 4 { singular.trim_end_matches('e').to_owned() } else { singular }
}

fn as_f64(count: usize) -> f64 {
    u32::try_from(count).map_or(f64::MAX, f64::from)
}
