//! Text layout: padding, cutting, wrapping, indenting; numbers for reading.

use super::super::call::Call;
use super::super::round::round;
use super::super::value::{Result, Value};
use super::give;
use super::pieces::split_lines;

/// The most digits after the point `text.number` writes.
const DIGITS_MAX: i64 = 100;

/// At most `n` characters, the ellipsis among them.
pub(super) fn truncate<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.utf8(0, "s")?;
    let width = call.size(1, "n")?;
    let ellipsis = call.utf8_or(2, "ellipsis", "…")?;
    if text.chars().count() <= width {
        return call.give(text);
    }
    let keep = width.saturating_sub(ellipsis.chars().count());
    give(call, text.chars().take(keep).chain(ellipsis.chars()).take(width).collect::<String>())
}

fn padding(call: &Call<'_>, text: &str) -> Result<String> {
    let width = call.size(1, "width")?;
    let fill = call.utf8_or(2, "fill", " ")?;
    if fill.is_empty() {
        return Err(call.fail("argument 3 (fill) must not be empty"));
    }
    let missing = width.saturating_sub(text.chars().count());
    let widest = fill.chars().map(char::len_utf8).max().unwrap_or(1);
    call.reserve(missing.checked_mul(widest).and_then(|bytes| bytes.checked_add(text.len())))?;
    Ok(fill.chars().cycle().take(missing).collect())
}

pub(super) fn pad_left<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.utf8(0, "s")?;
    let padding = padding(call, &text)?;
    call.give(padding + &text)
}

pub(super) fn pad_right<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.utf8(0, "s")?;
    let padding = padding(call, &text)?;
    call.give(text + &padding)
}

/// Breaks lines at blanks so that they have at most `width` characters. A longer word keeps a
/// line of its own; line ends that are there stay.
pub(super) fn wrap<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.utf8(0, "s")?;
    let width = if call.is_absent(1) { 72 } else { call.size(1, "width")? };
    if width == 0 {
        return Err(call.fail("argument 2 (width) must be at least 1"));
    }
    let mut wrapped = String::with_capacity(text.len());
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            wrapped.push('\n');
        }
        let mut used = 0;
        for word in line.split_whitespace() {
            let length = word.chars().count();
            if used > 0 && used + 1 + length > width {
                wrapped.push('\n');
                used = 0;
            } else if used > 0 {
                wrapped.push(' ');
                used += 1;
            }
            wrapped.push_str(word);
            used += length;
        }
    }
    give(call, wrapped)
}

/// Puts a prefix (text, or a number of spaces) before every line that is not blank.
pub(super) fn indent<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.text(0, "s")?;
    let bytes = text.as_bytes();
    let prefix = match call.arg(1) {
        Value::Integer(_) | Value::Number(_) => {
            let width = call.size(1, "prefix")?;
            call.reserve(Some(width))?;
            vec![b' '; width]
        }
        Value::Nil => vec![b' '; 2],
        _ => call.text(1, "prefix")?.as_bytes().to_vec(),
    };
    let lines = split_lines(bytes).count();
    let added = lines.checked_mul(prefix.len()).and_then(|added| added.checked_add(bytes.len()));
    call.reserve(added)?;
    let mut indented = Vec::new();
    let mut rest: &[u8] = bytes;
    for line in split_lines(bytes) {
        if !line.trim_ascii().is_empty() {
            indented.extend_from_slice(&prefix);
        }
        // The line with its own kind of end, as it stands.
        let ending = if rest[line.len()..].starts_with(b"\r\n") { 2 } else { 1 };
        let whole = (line.len() + ending).min(rest.len());
        indented.extend_from_slice(&rest[..whole]);
        rest = &rest[whole..];
    }
    call.give(indented)
}

/// A number for reading: rounded as `math.round` does, thousands set apart.
pub(super) fn number<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let value = call.number(0, "x")?;
    let digits = if call.is_absent(1) { None } else { Some(call.integer(1, "digits")?) };
    let separator = call.utf8_or(2, "separator", ",")?;
    if let Some(digits) = digits.filter(|digits| !(0..=DIGITS_MAX).contains(digits)) {
        return Err(
            call.fail(format_args!("argument 2 (digits) must be from 0 to {DIGITS_MAX}, got {digits}"))
        );
    }
    if !value.is_finite() {
        return Err(call.fail("argument 1 (x) must be a finite number"));
    }
    let integer = match call.arg(0) {
        Value::Number(_) => None,
        other => call.as_integer(&other),
    };
    let plain = match (integer, digits) {
        (Some(integer), None) => integer.to_string(),
        (Some(integer), Some(0)) => integer.to_string(),
        (Some(integer), Some(digits)) => format!("{integer}.{}", "0".repeat(digits as usize)),
        (None, None) => format!("{value}"),
        (None, Some(digits)) => format!("{:.*}", digits as usize, round(value, digits)),
    };
    let (sign, plain) = plain.strip_prefix('-').map_or(("", plain.as_str()), |plain| ("-", plain));
    let (whole, fraction) = plain.split_once('.').map_or((plain, None), |(whole, part)| (whole, Some(part)));
    call.reserve(separator.len().checked_mul(whole.len()))?;
    let mut written =
        String::from(if plain.bytes().any(|byte| matches!(byte, b'1'..=b'9')) { sign } else { "" });
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            written.push_str(&separator);
        }
        written.push(digit);
    }
    if let Some(fraction) = fraction {
        written.push('.');
        written.push_str(fraction);
    }
    give(call, written)
}
