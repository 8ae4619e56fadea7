//! `string.pack`, `unpack` and `packsize`.

use super::args::{Args, RESULTS_MAX, bad, fail, start_place};
use super::buffer::Buffer;
use super::pack_options::{Field, PackKind, PackOptions};
use super::{Arg, Item, Native, NativeCall, NativeError};

/// Bytes of Lua's own integers.
const INTEGER_BYTES: u64 = 8;

/// The largest size `string.packsize` gives.
const SIZE_MAX: u64 = i32::MAX as u64;

/// The natives of this file.
pub(super) const NATIVES: &[Native] = &[
    Native { name: "pack", run: pack },
    Native { name: "packsize", run: packsize },
    Native { name: "unpack", run: unpack },
];

/// `string.pack(format, ...)`
pub(super) fn pack(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let format = args.text(1)?;
    args.charge_bytes(format.len())?;
    let args = args.ending_in_nil();
    call.out.push_written(|bytes| add_fields(&mut Buffer::new(args.meter, bytes), args, &format))
}

fn add_fields(out: &mut Buffer<'_>, args: Args<'_>, format: &[u8]) -> Result<(), NativeError> {
    let mut options = PackOptions::of(format);
    let mut place = 1;
    while let Some(field) = options.next(out.len() as u64)? {
        args.meter.charge(1)?;
        out.fill(0, field.padding as usize)?;
        match field.kind {
            PackKind::Padding => out.fill(0, 1)?,
            PackKind::Align | PackKind::Nothing => {}
            _ => {
                place += 1;
                add_value(out, args, place, field)?;
            }
        }
    }
    Ok(())
}

fn add_value(out: &mut Buffer<'_>, args: Args<'_>, place: usize, field: Field) -> Result<(), NativeError> {
    match field.kind {
        PackKind::Signed => {
            let integer = args.integer(place)?;
            if field.bytes < INTEGER_BYTES {
                let limit = 1_i64 << (field.bytes * 8 - 1);
                if !(-limit..limit).contains(&integer) {
                    return bad(place, "integer overflow");
                }
            }
            add_integer(out, integer.cast_unsigned(), field, integer < 0)
        }
        PackKind::Unsigned => {
            let integer = args.integer(place)?.cast_unsigned();
            if field.bytes < INTEGER_BYTES && integer >> (field.bytes * 8) != 0 {
                return bad(place, "unsigned overflow");
            }
            add_integer(out, integer, field, false)
        }
        PackKind::Single => add_ordered(out, (args.float(place)? as f32).to_le_bytes(), field.little),
        PackKind::Double => add_ordered(out, args.float(place)?.to_le_bytes(), field.little),
        PackKind::Fixed => {
            let text = args.text(place)?;
            let size = field.bytes as usize;
            if text.len() > size {
                return bad(place, "string longer than given size");
            }
            out.room(size)?;
            out.add(&text)?;
            Ok(out.fill(0, size - text.len())?)
        }
        PackKind::Counted => {
            let text = args.text(place)?;
            if field.bytes < INTEGER_BYTES && text.len() as u64 >> (field.bytes * 8) != 0 {
                return bad(place, "string length does not fit in given size");
            }
            add_integer(out, text.len() as u64, field, false)?;
            Ok(out.add(&text)?)
        }
        _ => {
            let text = args.text(place)?;
            args.charge_bytes(text.len())?;
            if memchr::memchr(0, &text).is_some() {
                return bad(place, "string contains zeros");
            }
            out.add(&text)?;
            Ok(out.fill(0, 1)?)
        }
    }
}

fn add_integer(out: &mut Buffer<'_>, value: u64, field: Field, negative: bool) -> Result<(), NativeError> {
    let filler = if negative { 0xFF } else { 0 };
    let mut bytes = [filler; 16];
    bytes[..8].copy_from_slice(&value.to_le_bytes());
    let bytes = &mut bytes[..field.bytes as usize];
    if !field.little {
        bytes.reverse();
    }
    Ok(out.add(bytes)?)
}

fn add_ordered<const N: usize>(
    out: &mut Buffer<'_>,
    mut bytes: [u8; N],
    little: bool,
) -> Result<(), NativeError> {
    if !little {
        bytes.reverse();
    }
    Ok(out.add(&bytes)?)
}

/// `string.packsize(format)`
pub(super) fn packsize(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let format = args.text(1)?;
    args.charge_bytes(format.len())?;
    let mut options = PackOptions::of(&format);
    let mut total = 0;
    while let Some(field) = options.next(total)? {
        args.meter.charge(1)?;
        if matches!(field.kind, PackKind::Counted | PackKind::Terminated) {
            return bad(1, "variable-length format");
        }
        total += field.padding + field.bytes;
        if total > SIZE_MAX {
            return bad(1, "format result too large");
        }
    }
    call.out.push(Item::Integer(total as i64));
    Ok(())
}

/// `string.unpack(format, s [, position])`
pub(super) fn unpack(call: &mut NativeCall<'_>) -> Result<(), NativeError> {
    let args = Args::of(call);
    let format = args.text(1)?;
    args.charge_bytes(format.len())?;
    let data = args.text(2)?;
    let mut at = start_place(args.integer_or(3, 1)?, data.len()) - 1;
    if at > data.len() {
        return bad(3, "initial position out of string");
    }
    let mut options = PackOptions::of(&format);
    let mut results = 0;
    while let Some(field) = options.next(at as u64)? {
        args.meter.charge(1)?;
        if field.padding + field.bytes > (data.len() - at) as u64 {
            return bad(2, "data string too short");
        }
        at += field.padding as usize;
        if !matches!(field.kind, PackKind::Padding | PackKind::Align | PackKind::Nothing) {
            results += 1;
            if results > RESULTS_MAX {
                return fail("stack overflow (too many results)");
            }
        }
        at += give_value(call, args, &data, at, field)?;
    }
    call.out.push(Item::Integer(at as i64 + 1));
    Ok(())
}

/// Gives the value at a place, and the bytes it took there.
fn give_value(
    call: &mut NativeCall<'_>,
    args: Args<'_>,
    data: &[u8],
    at: usize,
    field: Field,
) -> Result<usize, NativeError> {
    let size = field.bytes as usize;
    let bytes = &data[at..at + size];
    match field.kind {
        PackKind::Signed | PackKind::Unsigned => {
            let integer = read_integer(bytes, field.little, field.kind == PackKind::Signed)?;
            call.out.push(Item::Integer(integer));
        }
        PackKind::Single => {
            call.out.push(Item::Number(f64::from(f32::from_le_bytes(ordered(bytes, field.little)))));
        }
        PackKind::Double => call.out.push(Item::Number(f64::from_le_bytes(ordered(bytes, field.little)))),
        PackKind::Fixed => give_text(call, args, data, at, size)?,
        PackKind::Counted => {
            let length = read_integer(bytes, field.little, false)?.cast_unsigned();
            let Some(length) =
                usize::try_from(length).ok().filter(|length| *length <= data.len() - at - size)
            else {
                return bad(2, "data string too short");
            };
            give_text(call, args, data, at + size, length)?;
            return Ok(size + length);
        }
        PackKind::Terminated => {
            let found = memchr::memchr(0, &data[at..]);
            args.charge_bytes(found.unwrap_or(data.len() - at))?;
            let Some(length) = found else { return bad(2, "unfinished string for format 'z'") };
            give_text(call, args, data, at, length)?;
            return Ok(length + 1);
        }
        PackKind::Padding | PackKind::Align | PackKind::Nothing => {}
    }
    Ok(size)
}

fn give_text(
    call: &mut NativeCall<'_>,
    args: Args<'_>,
    data: &[u8],
    at: usize,
    length: usize,
) -> Result<(), NativeError> {
    args.charge_bytes(length)?;
    match args.get(2) {
        Arg::Text(_) => call.out.push(Item::Slice { arg: 1, from: at, to: at + length }),
        _ => call.out.push_text(&data[at..at + length]),
    }
    Ok(())
}

fn ordered<const N: usize>(bytes: &[u8], little: bool) -> [u8; N] {
    let mut ordered = [0; N];
    ordered.copy_from_slice(bytes);
    if !little {
        ordered.reverse();
    }
    ordered
}

/// Reads an integer of 1 to 16 bytes; what lies beyond 64 bits may only repeat the sign.
fn read_integer(bytes: &[u8], little: bool, signed: bool) -> Result<i64, NativeError> {
    let place = |index: usize| if little { bytes[index] } else { bytes[bytes.len() - 1 - index] };
    let low = bytes.len().min(8);
    let value = (0..low).rev().fold(0_u64, |value, index| value << 8 | u64::from(place(index)));
    if low < 8 && signed {
        let unused = 64 - 8 * low as u32;
        return Ok((value << unused).cast_signed() >> unused);
    }
    let filler = if signed && value.cast_signed() < 0 { 0xFF } else { 0 };
    if (low..bytes.len()).any(|index| place(index) != filler) {
        return fail(format!("{}-byte integer does not fit into Lua Integer", bytes.len()));
    }
    Ok(value.cast_signed())
}
