//! Taking text apart and putting it together. Patterns have no meaning here.

use super::super::call::Call;
use super::super::value::{Result, Value};
use super::give;

/// Cuts blanks; Unicode ones where the text is UTF-8.
fn cut(bytes: &[u8], start: bool, end: bool) -> &[u8] {
    match std::str::from_utf8(bytes) {
        Ok(text) => {
            let text = if start { text.trim_start() } else { text };
            (if end { text.trim_end() } else { text }).as_bytes()
        }
        Err(_) => {
            let bytes = if start { bytes.trim_ascii_start() } else { bytes };
            if end { bytes.trim_ascii_end() } else { bytes }
        }
    }
}

pub(super) fn trim<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.text(0, "s")?;
    give(call, cut(text.as_bytes(), true, true))
}

pub(super) fn ltrim<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.text(0, "s")?;
    give(call, cut(text.as_bytes(), true, false))
}

pub(super) fn rtrim<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.text(0, "s")?;
    give(call, cut(text.as_bytes(), false, true))
}

pub(super) fn is_blank<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    if matches!(call.arg(0), Value::Nil | Value::Null) {
        return Ok(Value::Boolean(true));
    }
    let text = call.text(0, "s")?;
    Ok(Value::Boolean(cut(text.as_bytes(), true, true).is_empty()))
}

/// Where `needle` starts in `text`. Linear in the length of both: `memchr`'s searcher.
fn positions<'t>(text: &'t [u8], needle: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    memchr::memmem::find_iter(text, needle)
}

pub(super) fn split<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (text, separator) = (call.text(0, "s")?, call.text(1, "separator")?);
    let (text, separator) = (text.as_bytes(), separator.as_bytes());
    if separator.is_empty() {
        return Err(call.fail(
            "argument 2 (separator) must not be empty; text.chars gives the characters, text.words the words",
        ));
    }
    let max = if call.is_absent(2) { usize::MAX } else { call.size(2, "max")?.max(1) };
    let mut start = 0;
    let mut found = positions(text, separator).take(max - 1);
    let mut done = false;
    call.give_list(std::iter::from_fn(|| {
        if done {
            return None;
        }
        let piece = match found.next() {
            Some(at) => {
                let piece = &text[start..at];
                start = at + separator.len();
                piece
            }
            None => {
                done = true;
                &text[start..]
            }
        };
        Some(piece)
    }))
}

/// The lines of a text, which end at `\n`, `\r\n` or `\r`; an end after the last one adds none.
pub(super) fn split_lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let end = memchr::memchr2(b'\n', b'\r', text).unwrap_or(text.len());
        let line = &text[..end];
        let skip = if text[end..].starts_with(b"\r\n") { 2 } else { 1 };
        text = text.get(end + skip..).unwrap_or_default();
        Some(line)
    })
}

pub(super) fn lines<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.text(0, "s")?;
    call.give_list(split_lines(text.as_bytes()))
}

pub(super) fn words<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.text(0, "s")?;
    let bytes = text.as_bytes();
    match std::str::from_utf8(bytes) {
        Ok(text) => call.give_list(text.split_whitespace()),
        Err(_) => call.give_list(bytes.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty())),
    }
}

pub(super) fn chars<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.utf8(0, "s")?;
    let mut buffer = [0; 4];
    call.give_list(text.chars().map(|letter| letter.encode_utf8(&mut buffer).as_bytes().to_vec()))
}

pub(super) fn join<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let items = call.table(0, "list")?;
    let separator =
        if call.is_absent(1) { Vec::new() } else { call.text(1, "separator")?.as_bytes().to_vec() };
    let mut joined = Vec::new();
    for index in 1..=items.len()? {
        let piece = match items.item(index)? {
            Value::Boolean(value) => value.to_string().into_bytes(),
            Value::String(text) => text.as_bytes().to_vec(),
            number @ (Value::Integer(_) | Value::Number(_)) => call.host.number_text(&number),
            other => {
                return Err(call.fail(format_args!(
                    "item {index} of the list must be text, a number or a boolean, got {}",
                    call.describe(&other)
                )));
            }
        };
        let gap = if index > 1 { separator.len() } else { 0 };
        call.charge(4)?;
        call.charge_bytes(gap + piece.len())?;
        call.check_room(joined.len() + gap + piece.len())?;
        if index > 1 {
            joined.extend_from_slice(&separator);
        }
        joined.extend_from_slice(&piece);
    }
    call.give(joined)
}

pub(super) fn starts_with<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (text, prefix) = (call.text(0, "s")?, call.text(1, "prefix")?);
    Ok(Value::Boolean(text.as_bytes().starts_with(prefix.as_bytes())))
}

pub(super) fn ends_with<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (text, suffix) = (call.text(0, "s")?, call.text(1, "suffix")?);
    Ok(Value::Boolean(text.as_bytes().ends_with(suffix.as_bytes())))
}

pub(super) fn contains<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (text, part) = (call.text(0, "s")?, call.text(1, "part")?);
    Ok(Value::Boolean(memchr::memmem::find(text.as_bytes(), part.as_bytes()).is_some()))
}

pub(super) fn count<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (text, part) = (call.text(0, "s")?, call.text(1, "part")?);
    let (text, part) = (text.as_bytes(), part.as_bytes());
    if part.is_empty() {
        return Err(call.fail("argument 2 (part) must not be empty; text.len counts characters"));
    }
    Ok(Value::Integer(positions(text, part).count() as i64))
}

pub(super) fn replace<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (text, old, new) = (call.text(0, "s")?, call.text(1, "old")?, call.text(2, "new")?);
    let (text, old, new) = (text.as_bytes(), old.as_bytes(), new.as_bytes());
    if old.is_empty() {
        return Err(call.fail("argument 2 (old) must not be empty"));
    }
    let max = if call.is_absent(3) { usize::MAX } else { call.size(3, "max")? };
    let count = positions(text, old).take(max).count();
    let added = count.checked_mul(new.len()).and_then(|added| added.checked_add(text.len()));
    call.reserve(added.map(|bytes| bytes - count * old.len()))?;
    let mut replaced = Vec::new();
    let mut start = 0;
    for at in positions(text, old).take(max) {
        replaced.extend_from_slice(&text[start..at]);
        replaced.extend_from_slice(new);
        start = at + old.len();
    }
    replaced.extend_from_slice(&text[start..]);
    call.give(replaced)
}
