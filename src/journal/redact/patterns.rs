//! The encoded forms of a secret value.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};

use super::wrapped::is_digit;

/// One text to find.
#[derive(Debug, Clone)]
pub(super) struct SecretPattern {
    pub(super) text: String,
    pub(super) is_base64: bool,
    /// Whether the base64 digits before and after hold some bits of the secret.
    edges: (bool, bool),
}

impl SecretPattern {
    /// The byte range to replace for a match at `start..end`: with the digits at its edges that
    /// hold part of the secret.
    pub(super) fn widen(&self, bytes: &[u8], start: usize, end: usize) -> (usize, usize) {
        let is_digit = |at: Option<&u8>| at.is_some_and(|byte| is_digit(*byte));
        let before = self.edges.0 && start > 0 && is_digit(bytes.get(start - 1));
        let after = self.edges.1 && is_digit(bytes.get(end));
        (start - usize::from(before), end + usize::from(after))
    }
}

/// What percent-encodings keep besides letters, digits and `-._~`: that of RFC 3986, that for parts of
/// a path, and those of browsers for a component and for a whole address.
const LEFT_BY_PERCENT: [&str; 4] = ["", "/", "!'()*", "!'()*;/?:@&=+$,#"];

/// What is kept where only non-ASCII is encoded.
const ALL_ASCII: &str = " !\"#$%&'()*+,/:;<=>?@[\\]^`{|}";

/// The two quotation marks in HTML.
const HTML_QUOTES: [(&str, &str); 5] =
    [("\"", "'"), ("&quot;", "'"), ("&quot;", "&#39;"), ("&quot;", "&#x27;"), ("&#34;", "&#39;")];

/// Every form of `secret` to find, the secret itself included.
pub(super) fn patterns_of(secret: &str) -> Vec<SecretPattern> {
    // Programs that compare names without case write them in one case.
    let mut texts = vec![secret.to_owned(), secret.to_ascii_uppercase(), secret.to_ascii_lowercase()];
    // Serializing a string cannot fail; if it did, the plain form would remain.
    if let Ok(quoted) = serde_json::to_string(secret) {
        let plain = &quoted[1..quoted.len() - 1];
        for escaped in [plain.to_owned(), only_ascii(plain, false), only_ascii(plain, true)] {
            texts.push(escaped.replace('/', "\\/"));
            texts.push(escaped);
        }
    }
    for left in LEFT_BY_PERCENT {
        for uppercase in [true, false] {
            let encoded = percent_encoded(secret, left, uppercase);
            texts.push(encoded.replace("%20", "+"));
            texts.push(encoded);
        }
    }
    let html = secret.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    texts.extend(HTML_QUOTES.iter().map(|(double, single)| html.replace('"', double).replace('\'', single)));
    texts.push(hexadecimal(secret, true));
    texts.push(hexadecimal(secret, false));
    // `percent` decodes the rest of such a text.
    texts.extend([true, false].map(|uppercase| percent_encoded(secret, ALL_ASCII, uppercase)));
    texts.sort();
    texts.dedup();
    let mut patterns: Vec<SecretPattern> = texts
        .into_iter()
        .map(|text| SecretPattern { text, is_base64: false, edges: (false, false) })
        .collect();
    patterns.extend((0..3).flat_map(|offset| base64_forms(secret.as_bytes(), offset)));
    patterns
}

fn hexadecimal(secret: &str, uppercase: bool) -> String {
    secret.bytes().map(|byte| if uppercase { format!("{byte:02X}") } else { format!("{byte:02x}") }).collect()
}

/// The JSON form that escapes non-ASCII.
fn only_ascii(json: &str, uppercase: bool) -> String {
    let mut escaped = String::with_capacity(json.len());
    for character in json.chars() {
        if character.is_ascii() {
            escaped.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            escaped.push_str(&if uppercase { format!("\\u{unit:04X}") } else { format!("\\u{unit:04x}") });
        }
    }
    escaped
}

fn percent_encoded(secret: &str, left: &str, uppercase: bool) -> String {
    let mut encoded = String::with_capacity(secret.len() * 3);
    for byte in secret.bytes() {
        let is_kept = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~');
        if is_kept || left.as_bytes().contains(&byte) {
            encoded.push(char::from(byte));
        } else if uppercase {
            encoded.push_str(&format!("%{byte:02X}"));
        } else {
            encoded.push_str(&format!("%{byte:02x}"));
        }
    }
    encoded
}

/// The base64 digits that the secret alone determines where it starts `offset` bytes after a multiple of
/// three in the encoded data, in both alphabets.
fn base64_forms(secret: &[u8], offset: usize) -> Vec<SecretPattern> {
    let mut padded = vec![0; offset];
    padded.extend_from_slice(secret);
    let first = (offset * 8).div_ceil(6);
    let end = padded.len() * 8 / 6;
    let edges = (offset != 0, !padded.len().is_multiple_of(3));
    let mut forms: Vec<String> = [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)]
        .into_iter()
        .map(|digits| digits[first..end].to_owned())
        .collect();
    forms.dedup();
    forms.into_iter().map(|text| SecretPattern { text, is_base64: true, edges }).collect()
}
