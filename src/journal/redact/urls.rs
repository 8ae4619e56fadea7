//! Secrets inside addresses: `scheme://user:PASSWORD@host` and `?token=VALUE`.

use super::keys::{looks_secret, words_of};
use super::marks::REDACTED;

/// Words in names of pagination tokens: a `page_token` grants no access.
const PAGE_WORDS: [&str; 8] = ["page", "next", "continuation", "sync", "cursor", "marker", "start", "resume"];

/// A value under the name `key` counts as a key from so many bytes on.
const KEY_BYTES_MIN: usize = 16;

/// `text` without the passwords and keys of the addresses in it; `None` where there are none. With `everywhere`, text
/// in the form of a query counts outside of whole addresses as well.
pub(super) fn without_url_secrets(text: &str, everywhere: bool) -> Option<String> {
    if !(text.contains("://") || everywhere && text.contains('=')) {
        return None;
    }
    let mut ranges = Vec::new();
    for (at, _) in text.match_indices("://") {
        let start = at + 3;
        let rest = &text[start..];
        ranges.extend(password(rest).map(|(from, to)| (start + from, start + to)));
        if !everywhere {
            let end = rest.find(ends_address).unwrap_or(rest.len());
            queries(&rest[..end], start, &mut ranges);
        }
    }
    if everywhere {
        queries(text, 0, &mut ranges);
    }
    ranges.sort_unstable();
    let mut safe = String::new();
    let mut kept = 0;
    for (start, end) in ranges {
        if start >= kept && start < end {
            safe.push_str(&text[kept..start]);
            safe.push_str(REDACTED);
            kept = end;
        }
    }
    if kept == 0 {
        return None;
    }
    safe.push_str(&text[kept..]);
    Some(safe)
}

/// The range of the password in an address, after its `://`.
fn password(rest: &str) -> Option<(usize, usize)> {
    let end = rest.find(|c: char| matches!(c, '/' | '?' | '#') || ends_address(c)).unwrap_or(rest.len());
    let authority = &rest[..end];
    let host_at = authority.rfind('@')?;
    let colon_at = authority[..host_at].find(':')?;
    (host_at > colon_at + 1).then_some((colon_at + 1, host_at))
}

/// The ranges of the values of secret parameters in `text`, which starts at `start`.
fn queries(text: &str, start: usize, ranges: &mut Vec<(usize, usize)>) {
    for (at, _) in text.match_indices(['?', '&', ';', '#']) {
        let pair = &text[at + 1..];
        // A parameter's name is short; longer text is no query.
        let Some(equals) = pair.bytes().take(64).position(|byte| byte == b'=') else { continue };
        let value = &pair[equals + 1..];
        let ends = |c: char| ends_address(c) || matches!(c, '&' | ';' | '#' | ')' | ']' | '}' | '\\' | ',');
        // The value may be the mark of a secret that was removed before.
        let mark = value.starts_with(REDACTED).then_some(REDACTED.len());
        let value = &value[..mark.or_else(|| value.find(ends)).unwrap_or(value.len())];
        if !value.is_empty() && is_secret(&pair[..equals], value) {
            let from = start + at + 1 + equals + 1;
            ranges.push((from, from + value.len()));
        }
    }
}

fn is_secret(name: &str, value: &str) -> bool {
    let Ok(name) = percent_encoding::percent_decode_str(name).decode_utf8() else { return false };
    if name.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return false;
    }
    let words = words_of(&name);
    if words.iter().any(|word| PAGE_WORDS.contains(&word.as_str())) {
        return false;
    }
    let is_key = || {
        value.len() >= KEY_BYTES_MIN
            && value.bytes().any(|byte| byte.is_ascii_digit())
            && value.bytes().any(|byte| byte.is_ascii_alphabetic())
    };
    looks_secret(&name)
        || words.iter().any(|word| matches!(word.as_str(), "sig" | "signature"))
        || words == ["key"] && is_key()
}

fn ends_address(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '\'' | '<' | '>' | '`')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_secret_parameters_go() {
        for (text, expected) in [
            ("https://h/a?token=abc&x=1#api_key=z", "https://h/a?token=[redacted]&x=1#api_key=[redacted]"),
            (
                "see https://h/?access%5Ftoken=a.b-c, and more",
                "see https://h/?access%5Ftoken=[redacted], and more",
            ),
            ("https://h/?key=AIza0123456789abcdef", "https://h/?key=[redacted]"),
            (
                "https://b/o?X-Amz-Signature=0a1b&X-Amz-Date=2",
                "https://b/o?X-Amz-Signature=[redacted]&X-Amz-Date=2",
            ),
            ("https://u:p@h/?password=[redacted]&a=b", "https://u:[redacted]@h/?password=[redacted]&a=b"),
        ] {
            assert_eq!(without_url_secrets(text, false).unwrap(), expected);
            assert_eq!(without_url_secrets(text, true).unwrap(), expected);
        }
        assert_eq!(without_url_secrets("/a?token=abc", true).unwrap(), "/a?token=[redacted]");
        assert_eq!(without_url_secrets("/a?token=abc", false), None);
    }

    #[test]
    fn ordinary_parameters_stay() {
        for text in [
            "https://h/?page_token=abc&next-token=d&pageToken=e&max_tokens=5",
            "https://h/?key=name&sort=asc&q=what+token",
            "https://h/a/token=abc",
            "is it? token x = 5 & more",
            "a ? b : c; d = 5",
            "https://h/?token=",
        ] {
            assert_eq!(without_url_secrets(text, true), None, "{text}");
        }
    }
}
