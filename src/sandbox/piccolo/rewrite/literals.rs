//! Literals spelled so that piccolo reads them as Lua does.

/// A short string with its escapes resolved and written anew, its line breaks behind it.
pub(super) fn short_string(text: &str, out: &mut String) {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    write_bytes(&resolved(inner.as_bytes()), out);
    breaks(text, out);
}

/// A long string as a short one, its line breaks behind it.
pub(super) fn long_string(text: &str, out: &mut String) {
    let level = text.bytes().skip(1).take_while(|byte| *byte == b'=').count();
    let inner = text.get(level + 2..text.len().saturating_sub(level + 2)).unwrap_or_default();
    let mut bytes = Vec::with_capacity(inner.len());
    let mut rest = inner.as_bytes();
    rest = rest.get(line_break(rest)..).unwrap_or_default();
    while let Some(byte) = rest.first() {
        let width = line_break(rest);
        bytes.push(if width > 0 { b'\n' } else { *byte });
        rest = rest.get(width.max(1)..).unwrap_or_default();
    }
    write_bytes(&bytes, out);
    breaks(text, out);
}

fn breaks(text: &str, out: &mut String) {
    out.extend(text.bytes().filter(|byte| *byte == b'\n').map(|_| '\n'));
}

fn write_bytes(bytes: &[u8], out: &mut String) {
    out.push('"');
    for byte in bytes {
        match byte {
            b'"' | b'\\' => {
                out.push('\\');
                out.push(char::from(*byte));
            }
            0x20..=0x7e => out.push(char::from(*byte)),
            _ => out.push_str(&format!("\\{byte:03}")),
        }
    }
    out.push('"');
}

/// How many bytes the line break at the start takes: `\r\n` and `\n\r` are one.
fn line_break(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] | [b'\n', b'\r', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

fn resolved(mut rest: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(rest.len());
    while let Some((byte, after)) = rest.split_first() {
        rest = if *byte == b'\\' {
            escape(after, &mut bytes)
        } else {
            bytes.push(*byte);
            after
        };
    }
    bytes
}

/// Resolves what follows a backslash; the lexer has seen that it is well formed.
fn escape<'a>(rest: &'a [u8], bytes: &mut Vec<u8>) -> &'a [u8] {
    let Some((byte, after)) = rest.split_first() else { return rest };
    let plain = match byte {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'x' => {
            let (digits, after) = after.split_at(after.len().min(2));
            bytes.push(u8::try_from(digits_of(digits, 16)).unwrap_or(u8::MAX));
            return after;
        }
        b'z' => {
            let blanks = after.iter().take_while(|byte| byte.is_ascii_whitespace() || **byte == 11).count();
            return after.get(blanks..).unwrap_or_default();
        }
        b'u' => {
            let end = after.iter().position(|byte| *byte == b'}').unwrap_or(after.len());
            write_code(digits_of(after.get(1..end).unwrap_or_default(), 16), bytes);
            return after.get(end + 1..).unwrap_or_default();
        }
        b'0'..=b'9' => {
            let count = rest.iter().take(3).take_while(|byte| byte.is_ascii_digit()).count();
            let (digits, after) = rest.split_at(count);
            bytes.push(u8::try_from(digits_of(digits, 10)).unwrap_or(u8::MAX));
            return after;
        }
        b'\r' | b'\n' => {
            bytes.push(b'\n');
            return rest.get(line_break(rest)..).unwrap_or_default();
        }
        other => *other,
    };
    bytes.push(plain);
    after
}

fn digits_of(digits: &[u8], base: u32) -> u64 {
    digits
        .iter()
        .filter_map(|digit| char::from(*digit).to_digit(base))
        .fold(0, |sum: u64, digit| sum.wrapping_mul(u64::from(base)).wrapping_add(u64::from(digit)))
}

/// A code point as UTF-8 in its old form of up to six bytes, as Lua writes it.
fn write_code(code: u64, bytes: &mut Vec<u8>) {
    if code < 0x80 {
        bytes.push(code as u8);
        return;
    }
    let mut count = 2;
    while count < 6 && code >= 1 << (5 * count + 1) {
        count += 1;
    }
    let lead = 0xff00_u32 >> count;
    bytes.push((u64::from(lead & 0xff) | (code >> (6 * (count - 1)))) as u8);
    for place in (0..count - 1).rev() {
        bytes.push((0x80 | ((code >> (6 * place)) & 0x3f)) as u8);
    }
}

/// A numeral. Integers wrap where they are hexadecimal and become floats where they are too large.
pub(super) fn number(text: &str, out: &mut String) {
    let lower = text.to_ascii_lowercase();
    let Some(hex) = lower.strip_prefix("0x") else {
        match lower.parse::<i64>() {
            Ok(_) => out.push_str(&lower),
            Err(_) => float(lower.parse().unwrap_or(f64::NAN), out),
        }
        return;
    };
    if !hex.contains(['.', 'p']) {
        let value = digits_of(hex.as_bytes(), 16) as i64;
        // The smallest integer has no literal.
        if value == i64::MIN {
            out.push_str("(-9223372036854775807-1)");
        } else if value < 0 {
            out.push_str(&format!("({value})"));
        } else {
            out.push_str(&value.to_string());
        }
        return;
    }
    let (mantissa, exponent) = hex.split_once('p').unwrap_or((hex, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let mut value = 0.0_f64;
    for digit in whole.chars().chain(fraction.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16).unwrap_or(0));
    }
    let shift = exponent.parse::<i32>().unwrap_or(0) - 4 * i32::try_from(fraction.len()).unwrap_or(0);
    float(value * 2.0_f64.powi(shift), out);
}

fn float(value: f64, out: &mut String) {
    if value.is_finite() {
        // The exponent keeps it a float to the lexer.
        out.push_str(&format!("{value:e}"));
    } else {
        out.push_str("(1/0)");
    }
}
