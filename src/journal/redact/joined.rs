//! Text without its line breaks, to find a secret that is broken into lines.

/// The lines of a text, joined.
pub(super) struct JoinedLines {
    pub(super) text: String,
    /// For each line: its start in `text`, and its start in the original text.
    lines: Vec<(usize, usize)>,
}

impl JoinedLines {
    /// Removes every line break with the blanks around it; `None` where there is none.
    pub(super) fn of(text: &str) -> Option<Self> {
        if !text.contains('\n') {
            return None;
        }
        let mut joined = Self { text: String::with_capacity(text.len()), lines: Vec::new() };
        let mut at = 0;
        for line in text.split('\n') {
            let kept = line.trim_matches([' ', '\t', '\r']);
            if !kept.is_empty() {
                let blanks = line.len() - line.trim_start_matches([' ', '\t', '\r']).len();
                joined.lines.push((joined.text.len(), at + blanks));
                joined.text.push_str(kept);
            }
            at += line.len() + 1;
        }
        (joined.lines.len() > 1).then_some(joined)
    }

    /// The range in the original text of a range that is not empty.
    pub(super) fn origin(&self, (start, end): (usize, usize)) -> (usize, usize) {
        let at = |place: usize| {
            let next = self.lines.partition_point(|(begin, _)| *begin <= place);
            let (begin, origin) = self.lines.get(next.saturating_sub(1)).copied().unwrap_or_default();
            origin + (place - begin)
        };
        (at(start), at(end.saturating_sub(1)) + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_knows_where_it_came_from() {
        let text = "one  \r\n\t two\n\nthr\u{e9}e\n";
        let joined = JoinedLines::of(text).unwrap();
        assert_eq!(joined.text, "onetwothr\u{e9}e");
        for word in ["one", "two", "thr\u{e9}e"] {
            let start = joined.text.find(word).unwrap();
            let (from, to) = joined.origin((start, start + word.len()));
            assert_eq!(&text[from..to], word);
        }
        let (from, to) = joined.origin((2, 5));
        assert_eq!(&text[from..to], "e  \r\n\t tw");
        for none in ["", "one", "one\n", "\n\none\n"] {
            assert!(JoinedLines::of(none).is_none(), "{none:?}");
        }
    }
}
