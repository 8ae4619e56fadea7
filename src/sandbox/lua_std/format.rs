//! `string.format`: its conversions and their limits are those of Lua 5.4, on C's `printf`.

use super::args::{Args, bad, fail, type_name};
use super::buffer::Buffer;
use super::format_number::{write_float_item, write_integer_item};
use super::format_spec::Spec;
use super::number::{self, Number};
use super::{Arg, Native, NativeCall, NativeError, decimal};

/// What writing one item costs beside its bytes.
const ITEM_INSTRUCTIONS: u64 = 4;

/// A text so long is not padded or cut unless a precision is given.
const TEXT_BYTES_UNPADDED: usize = 100;

/// The natives of this file.
pub(super) const NATIVES: &[Native] =
    &[Native { name: "format", run: format }, Native { name: "format_letters", run: format_letters }];

/// `string.format(format, ...)`. The caller has already replaced values of `%s` with a metamethod by
/// their text.
pub(super) fn format(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let format = args.text(1)?;
    args.charge_bytes(format.len())?;
    call.out.push_written(|bytes| add_all(&mut Buffer::new(args.meter, bytes), args, &format))
}

fn add_all(out: &mut Buffer<'_>, args: Args<'_>, format: &[u8]) -> Result<(), NativeError> {
    let mut place = 1;
    let mut rest = format;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.add(&rest[..at])?;
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(b"%") {
            out.add(b"%")?;
            rest = after;
            continue;
        }
        place += 1;
        if place > args.count() {
            return bad(place, "no value");
        }
        args.meter.charge(ITEM_INSTRUCTIONS)?;
        let (spec, after) = Spec::split(rest)?;
        rest = after;
        add_item(out, &spec, args, place)?;
    }
    Ok(out.add(rest)?)
}

/// The letters of the conversions in a format, one for each argument, up to the first that is malformed.
/// For the prelude, which converts values without a plain text.
pub(super) fn format_letters(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let format = args.text(1)?;
    args.charge_bytes(2 * format.len())?;
    let mut letters = Vec::new();
    let mut rest = &format[..];
    while let Some(at) = memchr::memchr(b'%', rest) {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix(b"%") {
            rest = after;
            continue;
        }
        args.meter.charge(1)?;
        let Ok((spec, after)) = Spec::split(rest) else { break };
        letters.push(spec.letter);
        rest = after;
    }
    call.out.push_text(&letters);
    Ok(())
}

fn add_item(out: &mut Buffer<'_>, spec: &Spec<'_>, args: Args<'_>, place: usize) -> Result<(), NativeError> {
    match spec.letter {
        b'c' => {
            let layout = spec.layout(b"-", false)?;
            let byte = args.integer(place)? as u8; // as C: the low byte
            layout.pad(out, &[byte])
        }
        b'd' | b'i' | b'u' | b'o' | b'x' | b'X' => {
            let integer = args.integer(place)?;
            let flags: &[u8] = match spec.letter {
                b'd' | b'i' => b"-+0 ",
                b'u' => b"-0",
                _ => b"-#0",
            };
            write_integer_item(out, spec.letter, &spec.layout(flags, true)?, integer)
        }
        b'a' | b'A' => {
            let layout = spec.layout(b"-+#0 ", true)?;
            write_float_item(out, spec.letter, &layout, args.float(place)?)
        }
        b'e' | b'E' | b'f' | b'g' | b'G' => {
            let float = args.float(place)?;
            write_float_item(out, spec.letter, &spec.layout(b"-+#0 ", true)?, float)
        }
        b's' => add_text(out, spec, args, place),
        b'q' if spec.is_bare() => add_literal(out, args, place),
        b'q' => fail("specifier '%q' cannot have modifiers"),
        b'p' => bad(1, "'%p' is not available in a plan"),
        _ => spec.unknown(),
    }
}

fn add_text(out: &mut Buffer<'_>, spec: &Spec<'_>, args: Args<'_>, place: usize) -> Result<(), NativeError> {
    let text = match args.get(place) {
        Arg::Nil => b"nil"[..].into(),
        Arg::Boolean(true) => b"true"[..].into(),
        Arg::Boolean(false) => b"false"[..].into(),
        Arg::Text(_) | Arg::Integer(_) | Arg::Number(_) => args.text(place)?,
        other => type_name(other).as_bytes().into(),
    };
    args.charge_bytes(text.len())?;
    if spec.is_bare() {
        return Ok(out.add(&text)?);
    }
    if memchr::memchr(0, &text).is_some() {
        return bad(place, "string contains zeros");
    }
    let layout = spec.layout(b"-", true)?;
    if layout.precision.is_none() && text.len() >= TEXT_BYTES_UNPADDED {
        return Ok(out.add(&text)?);
    }
    let cut = layout.precision.unwrap_or(usize::MAX).min(text.len());
    layout.pad(out, &text[..cut])
}

/// `%q`: a literal that Lua reads back as the same value.
fn add_literal(out: &mut Buffer<'_>, args: Args<'_>, place: usize) -> Result<(), NativeError> {
    match args.get(place) {
        Arg::Text(text) => return add_quoted(out, text),
        Arg::Integer(i64::MIN) => out.add(b"0x8000000000000000")?,
        Arg::Number(float) if float.is_nan() => out.add(b"(0/0)")?,
        Arg::Number(float) if float.is_infinite() => {
            out.add(if float > 0.0 { b"1e9999" } else { b"-1e9999" })?;
        }
        Arg::Number(float) => {
            out.room(32)?;
            if float.is_sign_negative() {
                out.bytes.push(b'-');
            }
            decimal::write_hexadecimal(out.bytes, float.abs(), None, false);
        }
        Arg::Integer(integer) => {
            out.room(24)?;
            number::write_number(out.bytes, Number::Integer(integer));
        }
        Arg::Nil => out.add(b"nil")?,
        Arg::Boolean(truth) => out.add(if truth { b"true" } else { b"false" })?,
        Arg::None | Arg::Other(_) => return bad(place, "value has no literal form"),
    }
    Ok(())
}

fn add_quoted(out: &mut Buffer<'_>, text: &[u8]) -> Result<(), NativeError> {
    const STRETCH_BYTES: usize = 4096;
    out.room(text.len() + 2)?;
    out.bytes.push(b'"');
    for (start, stretch) in text.chunks(STRETCH_BYTES).enumerate() {
        out.room(4 * stretch.len() + 1)?;
        add_stretch(out, stretch, text.get((start + 1) * STRETCH_BYTES))?;
    }
    out.room(1)?;
    out.bytes.push(b'"');
    Ok(())
}

fn add_stretch(out: &mut Buffer<'_>, stretch: &[u8], next: Option<&u8>) -> Result<(), NativeError> {
    for (at, byte) in stretch.iter().enumerate() {
        match byte {
            b'"' | b'\\' | b'\n' => out.bytes.extend_from_slice(&[b'\\', *byte]),
            byte if byte.is_ascii_control() => {
                // Three digits where a digit follows, which would otherwise read as part of it.
                let follows = stretch.get(at + 1).or(next).is_some_and(u8::is_ascii_digit);
                let text = if follows { format!("\\{byte:03}") } else { format!("\\{byte}") };
                out.bytes.extend_from_slice(text.as_bytes());
            }
            byte => out.bytes.push(*byte),
        }
    }
    Ok(())
}
