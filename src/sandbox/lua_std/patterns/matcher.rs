//! The pattern matcher: an interpreter with its own stack of choices, which never recurses.

use super::super::NativeError;
use super::class::{Single, set_holds};
use super::steps::Steps;

/// Captures a pattern may have.
const CAPTURES_MAX: usize = 32;

/// Choices that may be open at once. The original recurses for each and stops at the same depth,
/// so a pattern is too complex for both or for none.
const CHOICES_MAX: usize = 199;

/// Bytes tested in one go between two counts of the steps.
const RUN_BYTES: usize = 4_096;

/// How far a capture goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Extent {
    /// Its `)` has not been reached.
    #[default]
    Open,
    /// `()`: it is a place in the subject.
    Position,
    Bytes(usize),
}

#[derive(Debug, Clone, Copy, Default)]
struct Capture {
    start: usize,
    extent: Extent,
}

/// What a capture of a match is, as bytes of the subject counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Captured {
    Position(usize),
    Slice { from: usize, to: usize },
}

/// A choice that can be revised.
#[derive(Debug, Clone, Copy)]
enum Choice {
    /// A capture was opened; undone when the rest fails.
    Opened,
    /// The capture at this place was closed.
    Closed(usize),
    /// An item with `?` was matched at `s`; otherwise continue without it, at `p`.
    Optional { s: usize, p: usize },
    /// `*` or `+`: so many bytes from `s` on were matched; otherwise one less.
    Longest { s: usize, count: usize, p: usize },
    /// `-`: nothing was matched at `s`; otherwise one byte more.
    Shortest { s: usize, item: Single, p: usize },
}

/// Matches one pattern against one subject.
pub(super) struct Matcher<'a> {
    pub(super) subject: &'a [u8],
    /// Without the `^` in front.
    pub(super) pattern: &'a [u8],
    pub(super) steps: Steps<'a>,
    captures: [Capture; CAPTURES_MAX],
    level: usize,
    choices: Vec<Choice>,
}

fn message<T>(text: &str) -> Result<T, NativeError> {
    Err(NativeError::Message(text.to_owned()))
}

impl<'a> Matcher<'a> {
    pub(super) fn new(subject: &'a [u8], pattern: &'a [u8], steps: Steps<'a>) -> Self {
        let captures = [Capture::default(); CAPTURES_MAX];
        Self { subject, pattern, steps, captures, level: 0, choices: Vec::new() }
    }

    /// Matches at exactly `s`, and gives where the match ends.
    ///
    /// # Errors
    /// A malformed pattern, as far as it was reached, and the end of the run.
    pub(super) fn match_at(&mut self, start: usize) -> Result<Option<usize>, NativeError> {
        self.level = 0;
        self.choices.clear();
        let (mut s, mut p) = (start, 0);
        loop {
            if let Some(end) = self.advance(s, p)? {
                return Ok(Some(end));
            }
            match self.retreat()? {
                Some(next) => (s, p) = next,
                None => return Ok(None),
            }
        }
    }

    /// Continues as long as everything matches: the end of the match, or nothing.
    fn advance(&mut self, mut s: usize, mut p: usize) -> Result<Option<usize>, NativeError> {
        let (subject, pattern) = (self.subject, self.pattern);
        loop {
            self.steps.add(1)?;
            let Some(&first) = pattern.get(p) else { return Ok(Some(s)) };
            match first {
                b'(' => {
                    p = self.open_capture(s, p)?;
                    continue;
                }
                b')' => {
                    self.close_capture(s)?;
                    p += 1;
                    continue;
                }
                b'$' if p + 1 == pattern.len() => return Ok((s == subject.len()).then_some(s)),
                b'%' => match pattern.get(p + 1) {
                    Some(b'b') => match self.balanced(s, p + 2)? {
                        Some(end) => {
                            (s, p) = (end, p + 4);
                            continue;
                        }
                        None => return Ok(None),
                    },
                    Some(b'f') => match self.frontier(s, p + 2)? {
                        Some(next) => {
                            p = next;
                            continue;
                        }
                        None => return Ok(None),
                    },
                    Some(digit @ b'0'..=b'9') => match self.repeated(s, *digit)? {
                        Some(end) => {
                            (s, p) = (end, p + 2);
                            continue;
                        }
                        None => return Ok(None),
                    },
                    _ => {}
                },
                _ => {}
            }

            let (item, next) = Single::read(pattern, p, &mut self.steps)?;
            self.steps.add(item.cost() - 1)?;
            let here = subject.get(s).is_some_and(|byte| item.holds(*byte, pattern));
            match pattern.get(next) {
                Some(b'?') => {
                    p = next + 1;
                    if here {
                        self.choose(Choice::Optional { s, p })?;
                        s += 1;
                    }
                }
                Some(b'-') => {
                    p = next + 1;
                    if here {
                        self.choose(Choice::Shortest { s, item, p })?;
                    }
                }
                Some(sign @ (b'*' | b'+')) => {
                    p = next + 1;
                    if here {
                        // With `+` the first one is not up for choice.
                        let from = s + usize::from(*sign == b'+');
                        let count = self.run_length(item, from)?;
                        self.choose(Choice::Longest { s: from, count, p })?;
                        s = from + count;
                    } else if *sign == b'+' {
                        return Ok(None);
                    }
                }
                _ if here => (s, p) = (s + 1, next),
                _ => return Ok(None),
            }
        }
    }

    /// Revises the last choice: where to continue in subject and pattern, or nothing.
    fn retreat(&mut self) -> Result<Option<(usize, usize)>, NativeError> {
        while let Some(choice) = self.choices.last_mut() {
            self.steps.add(1)?;
            match choice {
                Choice::Opened => self.level -= 1,
                Choice::Closed(place) => self.captures[*place].extent = Extent::Open,
                Choice::Optional { s, p } => {
                    let next = (*s, *p);
                    self.choices.pop();
                    return Ok(Some(next));
                }
                Choice::Longest { s, count, p } if *count > 0 => {
                    *count -= 1;
                    return Ok(Some((*s + *count, *p)));
                }
                Choice::Shortest { s, item, p } => {
                    self.steps.add(item.cost())?;
                    if self.subject.get(*s).is_some_and(|byte| item.holds(*byte, self.pattern)) {
                        *s += 1;
                        return Ok(Some((*s, *p)));
                    }
                }
                Choice::Longest { .. } => {}
            }
            self.choices.pop();
        }
        Ok(None)
    }

    fn choose(&mut self, choice: Choice) -> Result<(), NativeError> {
        if self.choices.len() >= CHOICES_MAX {
            return message("pattern too complex");
        }
        self.choices.push(choice);
        Ok(())
    }

    /// How many bytes are tested for the item between two counts of the steps.
    pub(super) fn run_bytes(&self, item: Single) -> usize {
        RUN_BYTES / item.cost().min(RUN_BYTES as u64) as usize
    }

    /// How many bytes from `from` on the item matches.
    fn run_length(&mut self, item: Single, from: usize) -> Result<usize, NativeError> {
        let rest = &self.subject[from..];
        if item == Single::Any {
            self.steps.add_bytes(rest.len())?;
            return Ok(rest.len());
        }
        let cost = item.cost();
        let mut count = 0;
        for piece in rest.chunks(self.run_bytes(item)) {
            let here = match item {
                Single::Byte(wanted) => piece.iter().position(|byte| *byte != wanted),
                _ => piece.iter().position(|byte| !item.holds(*byte, self.pattern)),
            };
            let tested = here.map_or(piece.len(), |here| here + 1);
            self.steps.add(tested as u64 * cost)?;
            count += here.unwrap_or(piece.len());
            if here.is_some() {
                break;
            }
        }
        Ok(count)
    }

    /// Opens the capture whose `(` is at `p`, and gives where the pattern continues.
    fn open_capture(&mut self, s: usize, p: usize) -> Result<usize, NativeError> {
        if self.level >= CAPTURES_MAX {
            return message("too many captures");
        }
        let is_position = self.pattern.get(p + 1) == Some(&b')');
        let extent = if is_position { Extent::Position } else { Extent::Open };
        self.captures[self.level] = Capture { start: s, extent };
        self.level += 1;
        self.choose(Choice::Opened)?;
        Ok(p + 1 + usize::from(is_position))
    }

    fn close_capture(&mut self, s: usize) -> Result<(), NativeError> {
        let open = self.captures[..self.level].iter().rposition(|capture| capture.extent == Extent::Open);
        let Some(place) = open else { return message("invalid pattern capture") };
        self.captures[place].extent = Extent::Bytes(s - self.captures[place].start);
        self.choose(Choice::Closed(place))
    }

    /// `%b` with its two bytes at `p`: where the balanced text at `s` ends.
    fn balanced(&mut self, s: usize, p: usize) -> Result<Option<usize>, NativeError> {
        let Some(&[opening, closing]) = self.pattern.get(p..p + 2) else {
            return message("malformed pattern (missing arguments to '%b')");
        };
        if self.subject.get(s) != Some(&opening) {
            return Ok(None);
        }
        let mut depth = 1_usize;
        let mut place = s + 1;
        for piece in self.subject[place..].chunks(RUN_BYTES) {
            for (offset, byte) in piece.iter().enumerate() {
                // Where both are the same byte, it closes.
                if *byte == closing {
                    depth -= 1;
                    if depth == 0 {
                        self.steps.add(offset as u64)?;
                        return Ok(Some(place + offset + 1));
                    }
                } else if *byte == opening {
                    depth += 1;
                }
            }
            self.steps.add(piece.len() as u64)?;
            place += piece.len();
        }
        Ok(None)
    }

    /// `%f` with its set at `p`: where the pattern continues if `s` is a frontier. Before the
    /// subject's first byte and after its last one there is a zero byte.
    fn frontier(&mut self, s: usize, p: usize) -> Result<Option<usize>, NativeError> {
        if self.pattern.get(p) != Some(&b'[') {
            return message("missing '[' after '%f' in pattern");
        }
        let (item, next) = Single::read(self.pattern, p, &mut self.steps)?;
        let Single::Set { open, close } = item else { return Ok(None) };
        self.steps.add(2 * item.cost())?;
        let before = if s == 0 { 0 } else { self.subject[s - 1] };
        let after = self.subject.get(s).copied().unwrap_or(0);
        let is_frontier =
            !set_holds(self.pattern, open, close, before) && set_holds(self.pattern, open, close, after);
        Ok(is_frontier.then_some(next))
    }

    /// `%1` to `%9`: where the text of that capture, found again at `s`, ends.
    fn repeated(&mut self, s: usize, digit: u8) -> Result<Option<usize>, NativeError> {
        let capture = usize::from(digit)
            .checked_sub(usize::from(b'1'))
            .filter(|place| *place < self.level)
            .map(|place| self.captures[place]);
        let (start, length) = match capture {
            Some(Capture { start, extent: Extent::Bytes(length) }) => (start, length),
            // A position is no text, so it never matches.
            Some(Capture { extent: Extent::Position, .. }) => return Ok(None),
            _ => {
                let number = i32::from(digit) - i32::from(b'0');
                return Err(NativeError::Message(format!("invalid capture index %{number}")));
            }
        };
        let Some(rest) = self.subject[s..].get(..length) else { return Ok(None) };
        self.steps.add_bytes(length)?;
        Ok((rest == &self.subject[start..start + length]).then_some(s + length))
    }

    /// How many captures the last match has.
    pub(super) fn capture_count(&self) -> usize {
        self.level
    }

    /// A capture of the last match, counted from 0.
    ///
    /// # Errors
    /// It was never closed.
    pub(super) fn capture(&self, place: usize) -> Result<Captured, NativeError> {
        let Capture { start, extent } = self.captures[place];
        match extent {
            Extent::Open => message("unfinished capture"),
            Extent::Position => Ok(Captured::Position(start)),
            Extent::Bytes(length) => Ok(Captured::Slice { from: start, to: start + length }),
        }
    }
}
