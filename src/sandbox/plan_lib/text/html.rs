//! HTML's five special characters, and the way back.

use super::super::call::Call;
use super::super::value::{Result, Value};
use super::give;

/// The longest reference looked for, `&` and `;` included.
const REFERENCE_BYTES_MAX: usize = 12;

fn replacement(byte: u8) -> Option<&'static str> {
    Some(match byte {
        b'&' => "&amp;",
        b'<' => "&lt;",
        b'>' => "&gt;",
        b'"' => "&quot;",
        b'\'' => "&#39;",
        _ => return None,
    })
}

/// Safe as element content and as a quoted attribute value.
pub(super) fn escape<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.text(0, "s")?;
    let bytes = text.as_bytes();
    let size = bytes.iter().map(|byte| replacement(*byte).map_or(1, str::len)).sum();
    call.reserve(Some(size))?;
    let mut escaped = Vec::with_capacity(size);
    for byte in bytes.iter() {
        match replacement(*byte) {
            Some(reference) => escaped.extend_from_slice(reference.as_bytes()),
            None => escaped.push(*byte),
        }
    }
    call.give(escaped)
}

/// Numeric references and the common named ones; anything else stays as it is.
pub(super) fn unescape<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.text(0, "s")?;
    let bytes = text.as_bytes();
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest: &[u8] = bytes;
    while let Some(at) = memchr::memchr(b'&', rest) {
        plain.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let window = &rest[..rest.len().min(REFERENCE_BYTES_MAX)];
        let end = window.iter().position(|byte| *byte == b';');
        let letter = end.and_then(|end| std::str::from_utf8(&window[1..end]).ok()).and_then(named);
        match (end, letter) {
            (Some(end), Some(letter)) => {
                plain.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[end + 1..];
            }
            _ => {
                plain.push(b'&');
                rest = &rest[1..];
            }
        }
    }
    plain.extend_from_slice(rest);
    give(call, plain)
}

fn named(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        "nbsp" => '\u{a0}',
        "copy" => '©',
        "reg" => '®',
        "euro" => '€',
        "hellip" => '…',
        "ndash" => '–',
        "mdash" => '—',
        "lsquo" => '‘',
        "rsquo" => '’',
        "ldquo" => '“',
        "rdquo" => '”',
        _ => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            return char::from_u32(number).filter(|letter| *letter != '\0');
        }
    })
}
