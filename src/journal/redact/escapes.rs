//! Text without its JSON escapes, for text that holds JSON.
//!
//! Any character may be written `\uXXXX`, so a secret has too many forms to search for each; the search runs
//! over the unescaped text instead.

/// JSON may hold JSON as text; so many levels are unescaped.
pub(super) const DEPTH_MAX: usize = 4;

/// A text without its escapes, and the origin of each of its bytes.
pub(super) struct Unescaped {
    pub(super) text: String,
    /// For each byte of `text`, and for its end: the place in the original text.
    origins: Vec<usize>,
}

impl Unescaped {
    /// `None` where nothing is escaped, neither as in JSON nor as `\xXX`, a common notation for bytes.
    pub(super) fn of(text: &str) -> Option<Self> {
        if !text.contains('\\') {
            return None;
        }
        let mut unescaped =
            Self { text: String::with_capacity(text.len()), origins: Vec::with_capacity(text.len()) };
        let mut rest = text;
        while let Some(first) = rest.chars().next() {
            let at = text.len() - rest.len();
            let (read, length) = escape(rest).unwrap_or((first, first.len_utf8()));
            unescaped.text.push(read);
            unescaped.origins.resize(unescaped.text.len(), at);
            rest = rest.get(length..).unwrap_or_default();
        }
        unescaped.origins.push(text.len());
        Some(unescaped)
    }

    /// The range in the original text.
    pub(super) fn origin(&self, (start, end): (usize, usize)) -> (usize, usize) {
        let at = |place: usize| self.origins.get(place).copied().unwrap_or_default();
        (at(start), at(end))
    }
}

/// The escape that `text` starts with: the character it encodes, and its length in bytes.
fn escape(text: &str) -> Option<(char, usize)> {
    let rest = text.strip_prefix('\\')?;
    let simple = match rest.chars().next()? {
        character @ ('"' | '\\' | '/') => Some(character),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'b' => Some('\u{8}'),
        'f' => Some('\u{c}'),
        _ => None,
    };
    if let Some(character) = simple {
        return Some((character, 2));
    }
    if let Some(digits) = rest.strip_prefix('x') {
        let byte = digits.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        let byte = u8::from_str_radix(byte, 16).ok().filter(u8::is_ascii)?;
        return Some((char::from(byte), 4));
    }
    let first = unit(rest)?;
    if let Some(character) = char::from_u32(u32::from(first)) {
        return Some((character, 6));
    }
    let second = unit(text.get(6..)?.strip_prefix('\\')?)?;
    let character = char::decode_utf16([first, second]).next()?.ok()?;
    Some((character, 12))
}

/// The UTF-16 unit of `uXXXX`.
fn unit(text: &str) -> Option<u16> {
    let digits = text.strip_prefix('u')?.get(..4)?;
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()).then(|| u16::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_known() {
        let text = "a\\u0042\\\\\u{e9}\\ud83d\\ude00z";
        let read = Unescaped::of(text).unwrap();
        assert_eq!(read.text, "aB\\\u{e9}\u{1f600}z");
        let (start, end) = read.origin((1, 2));
        assert_eq!(&text[start..end], "\\u0042");
        let face = read.text.find('\u{1f600}').unwrap();
        let (start, end) = read.origin((face, face + 4));
        assert_eq!(&text[start..end], "\\ud83d\\ude00");
        assert_eq!(Unescaped::of("a\\nb").unwrap().text, "a\nb");
        assert!(Unescaped::of("a\nb").is_none());
        // A backslash that starts no escape stays.
        for odd in ["\\u12", "\\uzzzz", "\\ud83d", "\\ud83d\\u0041x", "\\u", "x\\u+123"] {
            assert_eq!(Unescaped::of(odd).unwrap().text.replace('A', "\\u0041"), odd, "{odd}");
        }
    }
}
