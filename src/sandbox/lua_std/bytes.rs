//! `string.byte`, `char`, `sub`, `len`, `reverse`, `upper` and `lower`: bytes, as in the C locale.

use super::args::{Args, RESULTS_MAX, bad, end_place, fail, start_place};
use super::{Arg, Item, Native, NativeCall, NativeError};

/// The natives of this file.
pub(super) const NATIVES: &[Native] = &[
    Native { name: "byte", run: byte },
    Native { name: "char", run: char },
    Native { name: "len", run: len },
    Native { name: "lower", run: lower },
    Native { name: "reverse", run: reverse },
    Native { name: "sub", run: sub },
    Native { name: "upper", run: upper },
];

/// `string.len(s)`
pub(super) fn len(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let text = Args::of(call).text(1)?;
    call.out.push(Item::Integer(text.len() as i64));
    Ok(())
}

/// `string.sub(s, i [, j])`
pub(super) fn sub(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let text = args.text(1)?;
    let start = start_place(args.integer(2)?, text.len());
    let end = end_place(args.integer_or(3, -1)?, text.len());
    if start > end {
        call.out.push_text(b"");
        return Ok(());
    }
    args.charge_bytes(end - start)?;
    match args.get(1) {
        Arg::Text(_) => call.out.push(Item::Slice { arg: 0, from: start - 1, to: end }),
        _ => call.out.push_text(&text[start - 1..end]),
    }
    Ok(())
}

/// `string.byte(s [, i [, j]])`
pub(super) fn byte(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let text = args.text(1)?;
    let first = args.integer_or(2, 1)?;
    let start = start_place(first, text.len());
    let end = end_place(args.integer_or(3, first)?, text.len());
    if start > end {
        return Ok(());
    }
    if end - start >= RESULTS_MAX {
        return fail("stack overflow (string slice too long)");
    }
    args.meter.charge((end - start) as u64)?;
    for byte in &text[start - 1..end] {
        call.out.push(Item::Integer(i64::from(*byte)));
    }
    Ok(())
}

/// `string.char(...)`
pub(super) fn char(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    args.meter.charge(args.count() as u64)?;
    call.out.push_written(|bytes| {
        for place in 1..=args.count() {
            match u8::try_from(args.integer(place)?) {
                Ok(byte) => bytes.push(byte),
                Err(_) => return bad(place, "value out of range"),
            }
        }
        Ok(())
    })
}

/// `string.reverse(s)`
pub(super) fn reverse(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    changed(call, <[u8]>::reverse)
}

/// `string.upper(s)`
pub(super) fn upper(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    changed(call, <[u8]>::make_ascii_uppercase)
}

/// `string.lower(s)`
pub(super) fn lower(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    changed(call, <[u8]>::make_ascii_lowercase)
}

/// A changed copy. The change takes about as long as the copy, so both are charged.
fn changed(call: &mut NativeCall<'_>, change: fn(&mut [u8])) -> Result<(), NativeError> {
    let args = Args::of(call);
    let text = args.text(1)?;
    args.meter.reserve(text.len() as u64)?;
    args.charge_bytes(text.len())?;
    call.out.push_written(|bytes| {
        let start = bytes.len();
        bytes.extend_from_slice(&text);
        change(&mut bytes[start..]);
        Ok(())
    })
}
