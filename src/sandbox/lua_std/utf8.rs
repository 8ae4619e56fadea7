//! The functions of `utf8`. Sequences of up to six bytes are known, as the lax forms allow them.

use super::args::{Args, RESULTS_MAX, bad, fail};
use super::buffer::Buffer;
use super::{Item, Native, NativeCall, NativeError};

const UNICODE_MAX: u32 = 0x10_FFFF;
const LAX_MAX: u32 = 0x7FFF_FFFF;
const INVALID: &str = "invalid UTF-8 code";

/// Bytes that are decoded between two charges, and bytes decoded for one instruction.
const STRETCH_BYTES: usize = 4096;
const DECODED_BYTES_PER_INSTRUCTION: u64 = 4;

/// The natives of this file.
pub(super) const NATIVES: &[Native] = &[
    Native { name: "utf8.char", run: char },
    Native { name: "utf8.codepoint", run: codepoint },
    Native { name: "utf8.codes", run: codes },
    Native { name: "utf8.len", run: len },
    Native { name: "utf8.next", run: next_code },
    Native { name: "utf8.next_lax", run: next_code_lax },
    Native { name: "utf8.offset", run: offset },
];

fn is_continuation(byte: Option<&u8>) -> bool {
    byte.is_some_and(|byte| byte & 0xC0 == 0x80)
}

/// The code point at the start of `text` and its length in bytes; `None` where it is not valid.
fn decode(text: &[u8], lax: bool) -> Option<(u32, usize)> {
    // The least value worth so many continuation bytes: less is an overlong form.
    const LEAST: [u32; 6] = [u32::MAX, 0x80, 0x800, 0x1_0000, 0x20_0000, 0x400_0000];
    let first = *text.first()?;
    if first < 0x80 {
        return Some((u32::from(first), 1));
    }
    let more = first.leading_ones() as usize - 1;
    if more == 0 || more > 5 {
        return None;
    }
    let mut code = u32::from(first) & (0x7F >> (more + 1));
    for place in 1..=more {
        let byte = text.get(place);
        if !is_continuation(byte) {
            return None;
        }
        code = code << 6 | u32::from(*byte? & 0x3F);
    }
    let is_unicode = code <= UNICODE_MAX && !(0xD800..=0xDFFF).contains(&code);
    (code >= LEAST[more] && (lax || is_unicode)).then_some((code, more + 1))
}

fn encode(code: u32, out: &mut Vec<u8>) {
    if code < 0x80 {
        out.push(code as u8);
        return;
    }
    let more = match code {
        ..0x800 => 1,
        0x800..0x1_0000 => 2,
        0x1_0000..0x20_0000 => 3,
        0x20_0000..0x400_0000 => 4,
        _ => 5,
    };
    out.push((0xFF_u32 << (7 - more)) as u8 | (code >> (6 * more)) as u8);
    for place in (0..more).rev() {
        out.push(0x80 | (code >> (6 * place)) as u8 & 0x3F);
    }
}

/// A position counted from 1, or from the end where negative; 0 where that is before the start.
fn position(place: i64, length: usize) -> i64 {
    let length = length as i64;
    if place >= 0 {
        place
    } else if place < -length {
        0
    } else {
        length + place + 1
    }
}

/// Charges for the stretch that starts at `at`, where one starts.
struct Stretches<'a> {
    args: Args<'a>,
    paid_to: usize,
}

impl<'a> Stretches<'a> {
    fn from(args: Args<'a>, at: usize) -> Self {
        Self { args, paid_to: at }
    }

    fn reach(&mut self, at: usize) -> Result<(), NativeError> {
        if at >= self.paid_to {
            self.args.meter.charge(STRETCH_BYTES as u64 / DECODED_BYTES_PER_INSTRUCTION)?;
            self.paid_to = at + STRETCH_BYTES;
        }
        Ok(())
    }
}

/// `utf8.len(s [, i [, j [, lax]]])`
pub(super) fn len(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let text = args.text(1)?;
    let length = text.len() as i64;
    let first = position(args.integer_or(2, 1)?, text.len());
    let last = position(args.integer_or(3, -1)?, text.len());
    if first < 1 || first > length + 1 {
        return bad(2, "initial position out of bounds");
    }
    if last > length {
        return bad(3, "final position out of bounds");
    }
    let (mut at, end, lax) = (first as usize - 1, last as usize, args.truth(4));
    let mut stretches = Stretches::from(args, at);
    let mut count = 0;
    while at < end {
        stretches.reach(at)?;
        let Some((_, bytes)) = decode(&text[at..], lax) else {
            call.out.push(Item::Nil);
            call.out.push(Item::Integer(at as i64 + 1));
            return Ok(());
        };
        at += bytes;
        count += 1;
    }
    call.out.push(Item::Integer(count));
    Ok(())
}

/// `utf8.codepoint(s [, i [, j [, lax]]])`
pub(super) fn codepoint(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let text = args.text(1)?;
    let first = position(args.integer_or(2, 1)?, text.len());
    let last = position(args.integer_or(3, first)?, text.len());
    if first < 1 {
        return bad(2, "out of bounds");
    }
    if last > text.len() as i64 {
        return bad(3, "out of bounds");
    }
    if first > last {
        return Ok(());
    }
    if (last - first) as usize >= RESULTS_MAX {
        return fail("stack overflow (string slice too long)");
    }
    let (mut at, end, lax) = (first as usize - 1, last as usize, args.truth(4));
    args.meter.charge((end - at) as u64)?;
    while at < end {
        let Some((code, bytes)) = decode(&text[at..], lax) else { return fail(INVALID) };
        call.out.push(Item::Integer(i64::from(code)));
        at += bytes;
    }
    Ok(())
}

/// `utf8.char(...)`
pub(super) fn char(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    args.meter.charge(args.count() as u64)?;
    call.out.push_written(|bytes| {
        let out = &mut Buffer::new(args.meter, bytes);
        for place in 1..=args.count() {
            match u32::try_from(args.integer(place)?) {
                Ok(code) if code <= LAX_MAX => {
                    out.room(6)?;
                    encode(code, out.bytes);
                }
                _ => return bad(place, "value out of range"),
            }
        }
        Ok(())
    })
}

/// `utf8.offset(s, n [, i])`
pub(super) fn offset(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let text = args.text(1)?;
    let mut left = args.integer(2)?;
    let default = if left >= 0 { 1 } else { text.len() as i64 + 1 };
    let start = position(args.integer_or(3, default)?, text.len());
    if start < 1 || start > text.len() as i64 + 1 {
        return bad(3, "position out of bounds");
    }
    let mut at = start as usize - 1;
    let goes_on = |at: usize| is_continuation(text.get(at));
    let mut steps = 0_u64;
    let mut step = || {
        steps += 1;
        if steps.is_multiple_of(STRETCH_BYTES as u64) {
            args.meter.charge(STRETCH_BYTES as u64 / DECODED_BYTES_PER_INSTRUCTION)
        } else {
            Ok(())
        }
    };
    if left == 0 {
        while at > 0 && goes_on(at) {
            at -= 1;
            step()?;
        }
    } else if goes_on(at) {
        return fail("initial position is a continuation byte");
    } else if left < 0 {
        while left < 0 && at > 0 {
            at -= 1;
            while at > 0 && goes_on(at) {
                at -= 1;
                step()?;
            }
            step()?;
            left += 1;
        }
    } else {
        left -= 1;
        while left > 0 && at < text.len() {
            at += 1;
            while goes_on(at) {
                at += 1;
                step()?;
            }
            step()?;
            left -= 1;
        }
    }
    if left == 0 {
        call.out.push(Item::Integer(at as i64 + 1));
    } else {
        call.out.push(Item::Nil);
    }
    Ok(())
}

/// What `utf8.codes(s [, lax])` checks before its first step.
pub(super) fn codes(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let text = Args::of(call).text(1)?;
    if is_continuation(text.first()) { bad(1, INVALID) } else { Ok(()) }
}

/// The iterator of `utf8.codes`: of the text and the last position, the next position and its code.
pub(super) fn next_code(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    next(call, false)
}

/// The iterator of `utf8.codes` in its lax form.
pub(super) fn next_code_lax(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    next(call, true)
}

fn next(call: &mut NativeCall<'_>, lax: bool) -> Result<(), NativeError> {
    let args = Args::of(call);
    let text = args.text(1)?;
    // A control value that is no whole number counts as 0, a negative one lies after the end.
    let last = match args.integer(2) {
        Ok(last) => last,
        Err(NativeError::Dead) => return Err(NativeError::Dead),
        Err(_) => 0,
    };
    let mut at = usize::try_from(last).unwrap_or(usize::MAX);
    if at < text.len() {
        let mut stretches = Stretches::from(args, at + STRETCH_BYTES);
        while is_continuation(text.get(at)) {
            at += 1;
            stretches.reach(at)?;
        }
    }
    if at >= text.len() {
        return Ok(());
    }
    match decode(&text[at..], lax) {
        Some((code, bytes)) if !is_continuation(text.get(at + bytes)) => {
            call.out.push(Item::Integer(at as i64 + 1));
            call.out.push(Item::Integer(i64::from(code)));
            Ok(())
        }
        _ => fail(INVALID),
    }
}
