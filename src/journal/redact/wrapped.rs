//! Base64 that is broken into lines, with its digits joined.
//!
//! Mail breaks after 76 digits and PEM after 64, but any width is found here, with plain line ends or those of
//! JSON (`\n`, also escaped again), and with the indentation of folded headers and of YAML. A slash
//! that JSON wrote as `\/` counts as one digit.

/// A break holds at least one of these.
const BREAKS: [u8; 3] = [b'\r', b'\n', b'\\'];

/// The runs of base64 digits of a text that continue after a break, each joined, with a line end between them.
pub(super) struct JoinedBase64 {
    pub(super) text: String,
    /// For each piece without a break: its start in `text`, and its start in the original text.
    pieces: Vec<(usize, usize)>,
}

impl JoinedBase64 {
    /// One pass over the text; `None` where no digits continue after a break.
    pub(super) fn of(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        if !BREAKS.iter().any(|begin| bytes.contains(begin)) {
            return None;
        }
        let mut rows = Self { text: String::new(), pieces: Vec::new() };
        let mut at = 0;
        while at < bytes.len() {
            let end = digits_end(bytes, at);
            if end == at {
                at += 1;
                continue;
            }
            let next = break_end(bytes, end);
            if bytes.get(next).is_none_or(|byte| next == end || !is_digit(*byte)) {
                at = next.max(end);
                continue;
            }
            rows.piece(text, at, end);
            at = next;
            loop {
                let end = digits_end(bytes, at);
                rows.piece(text, at, end);
                at = break_end(bytes, end);
                if at == end || bytes.get(at).is_none_or(|byte| !is_digit(*byte)) {
                    break;
                }
            }
            rows.text.push('\n');
        }
        (!rows.pieces.is_empty()).then_some(rows)
    }

    fn piece(&mut self, text: &str, start: usize, end: usize) {
        self.pieces.push((self.text.len(), start));
        self.text.push_str(text.get(start..end).unwrap_or_default());
    }

    /// The range in the original text of a range that is not empty.
    pub(super) fn origin(&self, (start, end): (usize, usize)) -> (usize, usize) {
        let at = |place: usize| {
            let next = self.pieces.partition_point(|(begin, _)| *begin <= place);
            let (begin, origin) = self.pieces.get(next.saturating_sub(1)).copied().unwrap_or_default();
            origin + (place - begin)
        };
        (at(start), at(end.saturating_sub(1)) + 1)
    }
}

/// Whether a byte is a digit of base64, in either alphabet.
pub(super) fn is_digit(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn digits_end(bytes: &[u8], start: usize) -> usize {
    start + bytes.iter().skip(start).take_while(|byte| is_digit(**byte)).count()
}

/// The end of the break that starts at `start`; `start` itself where there is none.
fn break_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    let mut broken = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\r' | b'\n' => broken = true,
            b' ' | b'\t' => {}
            b'\\' => match bytes.get(at + 1) {
                Some(b'\\') => {}
                // The letter belongs to the escape, the slash to the digits.
                Some(b'n' | b'r') => {
                    broken = true;
                    at += 1;
                }
                Some(b't') => at += 1,
                Some(b'/') => broken = true,
                _ => break,
            },
            _ => break,
        }
        at += 1;
    }
    if broken { at } else { start }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_stretch_stands_in_a_row_and_knows_where_it_came_from() {
        let text = "a: one\r\ntwo\\\\nthree\\/x four  \n\tfive\n\nsix. seven eight\n";
        let rows = JoinedBase64::of(text).unwrap();
        assert_eq!(rows.text, "onetwothree/x\nfourfivesix\n");
        for word in ["one", "two", "three", "four", "five", "six"] {
            let start = rows.text.find(word).unwrap();
            let (from, to) = rows.origin((start, start + word.len()));
            assert_eq!(&text[from..to], word);
        }
        let (from, to) = rows.origin((2, 5));
        assert_eq!(&text[from..to], "e\r\ntw");
        for none in
            ["", "one two", "one\\two", "one \\", "\n\none", "one.\ntwo", "one\\\u{e9}two", "one\u{e9}\ntwo"]
        {
            assert!(JoinedBase64::of(none).is_none(), "{none}");
        }
    }

    /// Each byte is copied once at most, and a piece costs its digits and its break.
    #[test]
    fn rows_are_never_longer_than_their_text() {
        for hostile in ["a\n", "a \\\\\\", "\n", "\\n", "a\\/", "a \t", "a\\n \n"] {
            let text = hostile.repeat(100_000);
            let rows = JoinedBase64::of(&text);
            assert!(
                rows.is_none_or(|rows| rows.text.len() <= text.len() + 1 && rows.pieces.len() <= 300_000)
            );
        }
    }
}
