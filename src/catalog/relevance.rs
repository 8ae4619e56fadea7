//! Which of several texts fit some words best: full-text ranking.
//!
//! BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009). Exact arithmetic in
//! a fixed order, so the same words give the same scores everywhere.

use std::collections::{BTreeMap, BTreeSet};

/// How fast a repeated word in one text stops to add score.
const SATURATION: f64 = 1.2;
/// How much a text's length lowers its score.
const LENGTH_WEIGHT: f64 = 0.75;

/// Words that say nothing of what a text is about.
const EMPTY_WORDS: [&str; 48] = [
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by", "can", "do",
    "each", "every", "for", "from", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my",
    "not", "of", "on", "one", "or", "our", "so", "than", "that", "the", "their", "then", "there", "they",
    "this", "to", "was", "with",
];

/// The words of one text, each with how much it counts.
#[derive(Debug, Default)]
pub struct WeightedWords(BTreeMap<String, u32>);

impl WeightedWords {
    /// Counts each word of `text` `weight` times.
    pub fn add(&mut self, text: &str, weight: u32) {
        for term in terms(text) {
            *self.0.entry(term).or_default() += weight;
        }
    }
}

/// How well each text fits `words`, in the order of the texts: 0 where they share none, and comparable only within one answer.
#[must_use]
pub fn relevance(texts: &[WeightedWords], words: &str) -> Vec<f64> {
    let lengths: Vec<f64> = texts.iter().map(|text| f64::from(text.0.values().sum::<u32>())).collect();
    let mean_length = lengths.iter().sum::<f64>() / as_f64(texts.len().max(1));
    let query: BTreeSet<String> = terms(words).collect();
    let weights: Vec<(&String, f64)> = query
        .iter()
        .map(|term| {
            let with = as_f64(texts.iter().filter(|text| text.0.contains_key(term)).count());
            let rarity = (1.0 + (as_f64(texts.len()) - with + 0.5) / (with + 0.5)).ln();
            (term, rarity)
        })
        .collect();
    let score = |(text, length): (&WeightedWords, &f64)| {
        let dampening = SATURATION * (1.0 - LENGTH_WEIGHT + LENGTH_WEIGHT * length / mean_length);
        weights
            .iter()
            .filter_map(|(term, rarity)| {
                let count = f64::from(*text.0.get(*term)?);
                Some(rarity * count * (SATURATION + 1.0) / (count + dampening))
            })
            .sum()
    };
    texts.iter().zip(&lengths).map(score).collect()
}

/// The words of a text that say something, without their endings: `listInvoices` is `list`, `invoice`.
pub(super) fn terms(text: &str) -> impl Iterator<Item = String> {
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
