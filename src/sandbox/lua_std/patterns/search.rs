//! Where in a subject a pattern or a plain text is found.

use memchr::{memchr, memmem};

use super::super::NativeError;
use super::class::Single;
use super::matcher::Matcher;
use super::steps::Steps;

/// Bytes searched in one go: some ten microseconds.
const WINDOW_BYTES: usize = 64 * 1024;

/// Bytes that have a meaning in patterns. `)` and `]` have none without their partners.
const SPECIAL: &[u8] = b"^$*+?.([%-";

/// Whether a pattern matches itself and nothing else.
pub(super) fn is_plain(pattern: &[u8]) -> bool {
    !pattern.iter().any(|byte| SPECIAL.contains(byte))
}

/// The first place at or behind `from` where `wanted` stands as it is.
///
/// # Errors
/// The run is over.
pub(super) fn find_plain(
    subject: &[u8],
    wanted: &[u8],
    from: usize,
    steps: &mut Steps<'_>,
) -> Result<Option<usize>, NativeError> {
    let Some(last) = subject.len().checked_sub(wanted.len()).filter(|last| from <= *last) else {
        return Ok(None);
    };
    let head = &wanted[..wanted.len().min(WINDOW_BYTES / 2)];
    steps.add_bytes(head.len())?;
    let mut start = from;
    // Searches for the head of the text window by window, so that no call of the searcher is long, however
    // long subject and text are.
    while start <= last {
        let end = (start + WINDOW_BYTES).min(last + head.len());
        let found = find_in(&subject[start..end], head);
        match found {
            None => {
                steps.add_bytes(end - start)?;
                start = end + 1 - head.len();
            }
            Some(offset) => {
                steps.add_bytes(offset + head.len())?;
                start += offset;
                if same(&subject[start..start + wanted.len()], wanted, head.len(), steps)? {
                    return Ok(Some(start));
                }
                start += 1;
            }
        }
    }
    Ok(None)
}

fn find_in(window: &[u8], head: &[u8]) -> Option<usize> {
    match head {
        [] => Some(0),
        [byte] => memchr(*byte, window),
        _ => memmem::find(window, head),
    }
}

/// Whether two texts of one length are the same from the byte `from` on.
fn same(left: &[u8], right: &[u8], from: usize, steps: &mut Steps<'_>) -> Result<bool, NativeError> {
    for (left, right) in left[from..].chunks(WINDOW_BYTES).zip(right[from..].chunks(WINDOW_BYTES)) {
        steps.add_bytes(left.len())?;
        if left != right {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Matcher<'_> {
    /// The first match that starts at or after `from`, as its two ends; with `anchored`, only at `from`. A
    /// match that ends at `unless` is skipped: it would repeat the last one.
    ///
    /// # Errors
    /// A malformed pattern, as far as it was reached, and the end of the run.
    pub(super) fn find_from(
        &mut self,
        from: usize,
        anchored: bool,
        unless: Option<usize>,
    ) -> Result<Option<(usize, usize)>, NativeError> {
        if from > self.subject.len() {
            return Ok(None);
        }
        let first = if anchored { None } else { self.first_item()? };
        let mut start = from;
        while start <= self.subject.len() {
            if let Some(item) = first {
                match self.skip_to(item, start)? {
                    Some(place) => start = place,
                    None => return Ok(None),
                }
            }
            if let Some(end) = self.match_at(start)?
                && Some(end) != unless
            {
                return Ok(Some((start, end)));
            }
            if anchored {
                return Ok(None);
            }
            start += 1;
        }
        Ok(None)
    }

    /// The item that every match must start with, where the pattern shows it: the search then skips most
    /// places of a subject without the interpreter.
    fn first_item(&mut self) -> Result<Option<Single>, NativeError> {
        let place = match self.pattern {
            [b'(', b')', ..] => return Ok(None),
            [b'(', ..] => 1,
            _ => 0,
        };
        let begins_otherwise = matches!(
            &self.pattern[place..],
            [] | [b'(' | b')', ..] | [b'$'] | [b'%', b'b' | b'f' | b'0'..=b'9', ..]
        );
        if begins_otherwise {
            return Ok(None);
        }
        let (item, next) = Single::read(self.pattern, place, &mut self.steps)?;
        let may_be_absent = matches!(self.pattern.get(next), Some(b'?' | b'*' | b'-'));
        Ok((!may_be_absent && item != Single::Any).then_some(item))
    }

    /// The first byte at or behind `from` that the item matches.
    fn skip_to(&mut self, item: Single, from: usize) -> Result<Option<usize>, NativeError> {
        let mut place = from;
        let is_byte = matches!(item, Single::Byte(_));
        let window = if is_byte { WINDOW_BYTES } else { self.run_bytes(item) };
        for piece in self.subject[from..].chunks(window) {
            let found = match item {
                Single::Byte(wanted) => memchr(wanted, piece),
                _ => piece.iter().position(|byte| item.holds(*byte, self.pattern)),
            };
            let looked = found.map_or(piece.len(), |offset| offset + 1);
            if is_byte {
                self.steps.add_bytes(looked)?;
            } else {
                self.steps.add(looked as u64 * item.cost())?;
            }
            if let Some(offset) = found {
                return Ok(Some(place + offset));
            }
            place += piece.len();
        }
        Ok(None)
    }
}
