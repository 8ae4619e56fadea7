//! What a single item of a pattern matches: a byte, a class, a set.

use super::super::NativeError;
use super::steps::Steps;

const ESCAPE: u8 = b'%';

const ALPHA: u16 = 1;
const CONTROL: u16 = 1 << 1;
const DIGIT: u16 = 1 << 2;
const GRAPH: u16 = 1 << 3;
const LOWER: u16 = 1 << 4;
const PUNCTUATION: u16 = 1 << 5;
const SPACE: u16 = 1 << 6;
const UPPER: u16 = 1 << 7;
const HEX: u16 = 1 << 8;
const ZERO: u16 = 1 << 9;

/// The classes each byte is in, as the C locale has them: bytes from 128 on are in none.
static KINDS: [u16; 256] = kinds();

const fn kinds() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        let ascii = byte as u8;
        let mut kinds = 0;
        if ascii.is_ascii_alphabetic() {
            kinds |= ALPHA;
        }
        if ascii.is_ascii_control() {
            kinds |= CONTROL;
        }
        if ascii.is_ascii_digit() {
            kinds |= DIGIT;
        }
        if ascii.is_ascii_graphic() {
            kinds |= GRAPH;
        }
        if ascii.is_ascii_lowercase() {
            kinds |= LOWER;
        }
        if ascii.is_ascii_punctuation() {
            kinds |= PUNCTUATION;
        }
        if matches!(ascii, b' ' | b'\t'..=b'\r') {
            kinds |= SPACE;
        }
        if ascii.is_ascii_uppercase() {
            kinds |= UPPER;
        }
        if ascii.is_ascii_hexdigit() {
            kinds |= HEX;
        }
        if ascii == 0 {
            kinds |= ZERO;
        }
        table[byte] = kinds;
        byte += 1;
    }
    table
}

/// The kinds behind the letter of a class, in lower case.
const fn kinds_of_letter(letter: u8) -> Option<u16> {
    Some(match letter {
        b'a' => ALPHA,
        b'c' => CONTROL,
        b'd' => DIGIT,
        b'g' => GRAPH,
        b'l' => LOWER,
        b'p' => PUNCTUATION,
        b's' => SPACE,
        b'u' => UPPER,
        b'w' => ALPHA | DIGIT,
        b'x' => HEX,
        b'z' => ZERO, // deprecated in Lua, still supported
        _ => return None,
    })
}

/// What one item of a pattern matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Single {
    Any,
    Byte(u8),
    Class {
        kinds: u16,
        negated: bool,
    },
    /// The set between the `[` and the closing `]` at these places of the pattern.
    Set {
        open: usize,
        close: usize,
    },
}

impl Single {
    /// The item at `place`, which is in the pattern, and the place of the next one.
    ///
    /// # Errors
    /// An escape or a set that does not end.
    #[inline]
    pub(super) fn read(
        pattern: &[u8],
        place: usize,
        steps: &mut Steps<'_>,
    ) -> Result<(Self, usize), NativeError> {
        match pattern[place] {
            b'.' => Ok((Self::Any, place + 1)),
            ESCAPE => match pattern.get(place + 1) {
                Some(escaped) => Ok((Self::of_escaped(*escaped), place + 2)),
                None => Err(NativeError::Message("malformed pattern (ends with '%')".to_owned())),
            },
            b'[' => {
                let close = set_end(pattern, place, steps)?;
                Ok((Self::Set { open: place, close }, close + 1))
            }
            byte => Ok((Self::Byte(byte), place + 1)),
        }
    }

    fn of_escaped(letter: u8) -> Self {
        match kinds_of_letter(letter.to_ascii_lowercase()) {
            Some(kinds) => Self::Class { kinds, negated: letter.is_ascii_uppercase() },
            None => Self::Byte(letter),
        }
    }

    #[inline]
    pub(super) fn holds(self, byte: u8, pattern: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Byte(wanted) => wanted == byte,
            Self::Class { kinds, negated } => is_kind(byte, kinds) != negated,
            Self::Set { open, close } => set_holds(pattern, open, close, byte),
        }
    }

    /// What one test costs, in instructions.
    #[inline]
    pub(super) fn cost(self) -> u64 {
        match self {
            Self::Set { open, close } => 1 + (close - open) as u64 / SET_BYTES_PER_STEP,
            _ => 1,
        }
    }
}

/// How many bytes of a set are searched in one step.
const SET_BYTES_PER_STEP: u64 = 8;

#[inline]
fn is_kind(byte: u8, kinds: u16) -> bool {
    KINDS[usize::from(byte)] & kinds != 0
}

/// The place of the `]` that ends the set whose `[` is at `open`. One right behind the `[` or `[^`
/// stands for itself.
fn set_end(pattern: &[u8], open: usize, steps: &mut Steps<'_>) -> Result<usize, NativeError> {
    let mut place = open + 1;
    if pattern.get(place) == Some(&b'^') {
        place += 1;
    }
    loop {
        match pattern.get(place) {
            None => {
                steps.add((place - open) as u64 / SET_BYTES_PER_STEP)?;
                return Err(NativeError::Message("malformed pattern (missing ']')".to_owned()));
            }
            Some(&ESCAPE) if place + 1 < pattern.len() => place += 2,
            Some(_) => place += 1,
        }
        if pattern.get(place) == Some(&b']') {
            steps.add((place - open) as u64 / SET_BYTES_PER_STEP)?;
            return Ok(place);
        }
    }
}

/// Whether the set from the `[` at `open` to the `]` at `close` holds the byte.
pub(super) fn set_holds(pattern: &[u8], open: usize, close: usize, byte: u8) -> bool {
    let negated = pattern[open + 1] == b'^';
    let mut place = open + 1 + usize::from(negated);
    while place < close {
        let item = pattern[place];
        if item == ESCAPE {
            // A range may end in `%`; then what follows it here is the `]` itself.
            if Single::of_escaped(pattern[place + 1]).holds(byte, pattern) {
                return !negated;
            }
            place += 2;
        } else if pattern[place + 1] == b'-' && place + 2 < close {
            if item <= byte && byte <= pattern[place + 2] {
                return !negated;
            }
            place += 3;
        } else {
            if item == byte {
                return !negated;
            }
            place += 1;
        }
    }
    negated
}
