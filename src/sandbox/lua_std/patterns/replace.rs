//! `gsub` with a text as replacement.

use super::super::NativeError;
use super::super::buffer::Buffer;
use super::super::number::write_integer;
use super::matcher::{Captured, Matcher};

/// Replaces at most `most` matches, and gives how many there were. The new text goes into `buffer`,
/// unless nothing matched.
///
/// # Errors
/// A malformed pattern or replacement, as far as it was reached, and the end of the run.
pub(super) fn replace(
    matcher: &mut Matcher<'_>,
    anchored: bool,
    replacement: &[u8],
    most: i64,
    mut buffer: Buffer<'_>,
) -> Result<i64, NativeError> {
    let subject = matcher.subject;
    let (mut place, mut last, mut copied, mut count) = (0, None, 0, 0);
    while count < most {
        let Some((start, end)) = matcher.find_from(place, anchored, last)? else { break };
        count += 1;
        buffer.add(&subject[copied..start])?;
        add_replacement(matcher, replacement, start, end, &mut buffer)?;
        matcher.steps.add(1 + (end - copied) as u64 / 16)?;
        (place, last, copied) = (end, Some(end), end);
        if anchored {
            break;
        }
    }
    if count == 0 {
        return Ok(0);
    }
    buffer.add(&subject[copied..])?;
    matcher.steps.add_bytes(subject.len() - copied)?;
    Ok(count)
}

/// Adds the replacement for the match from `start` to `end`.
fn add_replacement(
    matcher: &mut Matcher<'_>,
    replacement: &[u8],
    start: usize,
    end: usize,
    buffer: &mut Buffer<'_>,
) -> Result<(), NativeError> {
    let subject = matcher.subject;
    let mut rest = replacement;
    matcher.steps.add_bytes(rest.len())?;
    while let Some(place) = memchr::memchr(b'%', rest) {
        matcher.steps.add(1)?;
        buffer.add(&rest[..place])?;
        match rest.get(place + 1) {
            Some(b'%') => buffer.add(b"%")?,
            Some(b'0') => buffer.add(&subject[start..end])?,
            Some(digit @ b'1'..=b'9') => match matcher.numbered(usize::from(*digit - b'1'), start, end)? {
                Captured::Slice { from, to } => {
                    matcher.steps.add_bytes(to - from)?;
                    buffer.add(&subject[from..to])?;
                }
                Captured::Position(position) => {
                    let mut digits = Vec::with_capacity(20);
                    write_integer(&mut digits, position as i64 + 1);
                    buffer.add(&digits)?;
                }
            },
            _ => {
                let text = "invalid use of '%' in replacement string".to_owned();
                return Err(NativeError::Message(text));
            }
        }
        rest = &rest[place + 2..];
    }
    buffer.add(rest)?;
    Ok(())
}

impl Matcher<'_> {
    /// The capture at `place`, counted from 0; the whole match stands for the first where the
    /// pattern has none.
    pub(super) fn numbered(&self, place: usize, start: usize, end: usize) -> Result<Captured, NativeError> {
        if place < self.capture_count() {
            self.capture(place)
        } else if place == 0 {
            Ok(Captured::Slice { from: start, to: end })
        } else {
            Err(NativeError::Message(format!("invalid capture index %{}", place + 1)))
        }
    }
}
