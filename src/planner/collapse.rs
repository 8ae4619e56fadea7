//! Detects a model that repeats its answer.

use std::collections::HashMap;

/// So many answers in a row that are nearly the same are a collapse.
const ANSWERS: usize = 3;
const SIMILARITY: f64 = 0.97;
const SHINGLE_TOKENS: usize = 3;

/// Whether the last three answers are nearly identical in content.
pub(super) fn collapsed(answers: &[String]) -> bool {
    let Some(last) = answers.len().checked_sub(ANSWERS).and_then(|start| answers.get(start..)) else {
        return false;
    };
    last.windows(2).all(|pair| matches!(pair, [one, other] if similarity(one, other) >= SIMILARITY))
}

/// How much two texts share: the Jaccard index of their runs of three tokens, white space apart.
pub(super) fn similarity(one: &str, other: &str) -> f64 {
    let (one, other) = (tokens(one), tokens(other));
    if one == other {
        return 1.0;
    }
    let (one, other) = (shingles(&one), shingles(&other));
    let mut shared = 0_usize;
    let mut all = 0_usize;
    for (shingle, count) in &one {
        let also = other.get(shingle).copied().unwrap_or(0);
        shared += (*count).min(also);
        all += (*count).max(also);
    }
    all += other
        .iter()
        .filter(|(shingle, _)| !one.contains_key(*shingle))
        .map(|(_, count)| count)
        .sum::<usize>();
    if all == 0 {
        return 0.0;
    }
    #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
    let similarity = shared as f64 / all as f64;
    similarity
}

fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for word in text.split_whitespace() {
        let mut rest = word;
        while let Some(first) = rest.chars().next() {
            let is_word = |c: char| c.is_alphanumeric() || c == '_';
            let end = if is_word(first) {
                rest.find(|c| !is_word(c)).unwrap_or(rest.len())
            } else {
                first.len_utf8()
            };
            let (token, after) = rest.split_at(end);
            tokens.push(token);
            rest = after;
        }
    }
    tokens
}

fn shingles<'a>(tokens: &'a [&'a str]) -> HashMap<&'a [&'a str], usize> {
    let mut counts = HashMap::new();
    for shingle in tokens.windows(SHINGLE_TOKENS.min(tokens.len()).max(1)) {
        *counts.entry(shingle).or_default() += 1;
    }
    counts
}
