//! Counts tokens where the provider does not.

/// Longer texts are estimated: merging byte pairs in one endless word takes quadratic time.
const COUNTED_BYTES_MAX: usize = 512 * 1024;
/// A cautious average for text that is estimated.
const ESTIMATED_BYTES_PER_TOKEN: u64 = 3;

/// How many tokens `text` has, by the o200k vocabulary.
///
/// The vocabulary is built at the first call and kept. Other models count differently, by up to a
/// third; budgets leave that room. Texts above 512 KiB are estimated at three bytes a token.
#[must_use]
pub fn count_tokens(text: &str) -> u64 {
    if text.len() > COUNTED_BYTES_MAX {
        return text.len() as u64 / ESTIMATED_BYTES_PER_TOKEN;
    }
    tiktoken_rs::o200k_base_singleton().encode_ordinary(text).len() as u64
}
