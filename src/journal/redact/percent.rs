//! Text with its percent-encoding decoded.
//!
//! Any character may be written `%XX`, whether or not it needs to be.

/// A text with `%XX` of ASCII decoded, and the origin of each of its bytes. Other characters stay encoded: a
/// secret that has such characters is searched for with these encoded.
pub(super) struct Decoded {
    pub(super) text: String,
    /// The places in `text` after each decoded character, in order: each was two bytes longer.
    shifts: Vec<usize>,
}

impl Decoded {
    /// `None` where nothing is encoded.
    pub(super) fn of(text: &str) -> Option<Self> {
        let mut pieces = text.split('%');
        let mut decoded = Self { text: pieces.next()?.to_owned(), shifts: Vec::new() };
        for piece in pieces {
            match piece.get(..2).and_then(ascii) {
                Some(character) => {
                    decoded.text.push(character);
                    decoded.shifts.push(decoded.text.len());
                    decoded.text.push_str(&piece[2..]);
                }
                None => {
                    decoded.text.push('%');
                    decoded.text.push_str(piece);
                }
            }
        }
        (!decoded.shifts.is_empty()).then_some(decoded)
    }

    /// The range in the original text.
    pub(super) fn origin(&self, (start, end): (usize, usize)) -> (usize, usize) {
        let at = |place: usize| place + 2 * self.shifts.partition_point(|shift| *shift <= place);
        (at(start), at(end))
    }
}

fn ascii(digits: &str) -> Option<char> {
    let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let byte = u8::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    byte.is_ascii().then_some(char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_is_known() {
        let text = "a%62c%C3%A9%64%2g%25";
        let read = Decoded::of(text).unwrap();
        assert_eq!(read.text, "abc%C3%A9d%2g%");
        for (part, written) in
            [("abc", "a%62c"), ("b", "%62"), ("%C3%A9d", "%C3%A9%64"), ("%2g", "%2g"), ("g%", "g%25")]
        {
            let start = read.text.find(part).unwrap();
            let (from, to) = read.origin((start, start + part.len()));
            assert_eq!(&text[from..to], written);
        }
        for none in ["", "abc", "100%", "%", "%4", "%zz", "%+1", "%\u{e9}"] {
            assert!(Decoded::of(none).is_none(), "{none}");
        }
    }
}
