//! Numbers, dates and long texts as people read them: filters the engine does not have.
//!
//! Nothing is written for null, as everywhere in a template; what is missing is an error.

use jiff::fmt::strtime::BrokenDownTime;
use jiff::fmt::temporal::Pieces;
use minijinja::value::{Kwargs, Value};
use minijinja::{Environment, Error, ErrorKind};

const DECIMALS_MAX: u32 = 20;
const PATTERN_BYTES_MAX: usize = 200;
/// The engine's own default, which is Jinja's.
const TRUNCATE_DEFAULT: usize = 255;

/// Adds `number`, `date` and `truncate`. Each calls `charge` with the bytes it may read and write.
pub(super) fn add(
    environment: &mut Environment<'_>,
    charge: impl Fn(&Value, usize) -> Result<(), Error> + Clone + Send + Sync + 'static,
) {
    let counted = charge.clone();
    environment.add_filter("number", move |value: Value, decimals: Option<u32>, options: Kwargs| {
        let decimals = decimals.map_or_else(|| options.get("decimals"), |decimals| Ok(Some(decimals)))?;
        let thousands = options.get::<Option<&str>>("thousands")?.unwrap_or(",").to_owned();
        let point = options.get::<Option<&str>>("decimal")?.unwrap_or(".").to_owned();
        options.assert_all_used()?;
        // A separator may stand before each digit.
        counted(&value, (thousands.len() + 1).saturating_mul(400) + point.len())?;
        number(&value, decimals, &thousands, &point)
    });
    let counted = charge.clone();
    environment.add_filter("date", move |value: Value, pattern: Option<&str>, options: Kwargs| {
        let pattern = pattern.map_or_else(|| options.get("format"), |pattern| Ok(Some(pattern)))?;
        let pattern = pattern.unwrap_or("%Y-%m-%d");
        options.assert_all_used()?;
        // A letter may be padded to 255 characters.
        counted(&value, pattern.len().saturating_mul(128))?;
        date(&value, pattern)
    });
    environment.add_filter("truncate", move |value: Value, length: Option<usize>, options: Kwargs| {
        let length = length.map_or_else(|| options.get("length"), |length| Ok(Some(length)))?;
        let killwords = options.get::<Option<bool>>("killwords")?.unwrap_or(false);
        let leeway = options.get::<Option<usize>>("leeway")?.unwrap_or(0);
        let end = options.get::<Option<&str>>("end")?.unwrap_or("...").to_owned();
        options.assert_all_used()?;
        charge(&value, end.len())?;
        let text = match value.as_str() {
            Some(text) => text.to_owned(),
            None if value.is_undefined() => return Err(Error::from(ErrorKind::UndefinedError)),
            None if value.is_none() => return Ok(String::new()),
            None => value.to_string(),
        };
        truncate(&text, length.unwrap_or(TRUNCATE_DEFAULT), leeway, killwords, &end)
    });
}

fn wrong(filter: &str, expected: &str, seen: &Value) -> Error {
    const SHOWN: usize = 40;
    let seen: String = match seen.as_str() {
        Some(text) => format!("{:?}", text.chars().take(SHOWN).collect::<String>()),
        None => seen.kind().to_string(),
    };
    Error::new(ErrorKind::InvalidOperation, format!("`{filter}` takes {expected}, got {seen}"))
}

fn is_nothing(value: &Value) -> Result<bool, Error> {
    match value.is_undefined() {
        true => Err(Error::from(ErrorKind::UndefinedError)),
        false => Ok(value.is_none()),
    }
}

/// A number, or text that is one, in plain digits with the thousands set apart. Rounded half away from zero by its
/// decimal digits, so text keeps every digit it has.
pub(super) fn number(
    value: &Value,
    decimals: Option<u32>,
    thousands: &str,
    point: &str,
) -> Result<String, Error> {
    if is_nothing(value)? {
        return Ok(String::new());
    }
    if let Some(decimals) = decimals.filter(|decimals| *decimals > DECIMALS_MAX) {
        let message = format!("`number` writes up to {DECIMALS_MAX} decimals, not {decimals}");
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    }
    let is_text = value.as_str().is_some();
    let text = match value.is_number() || is_text {
        true => value.to_string(),
        false => return Err(wrong("number", "a number", value)),
    };
    let text = text.trim();
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let plain = unsigned.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        && unsigned.bytes().filter(|byte| *byte == b'.').count() <= 1
        && unsigned.bytes().any(|byte| byte.is_ascii_digit());
    // Exponents, as large floats are written, become plain digits.
    let spelled = if plain {
        unsigned.to_owned()
    } else {
        let parsed: f64 = unsigned.parse().map_err(|_| wrong("number", "a number", value))?;
        match parsed.is_finite() && parsed >= 0.0 && unsigned.starts_with(|c: char| c.is_ascii_digit()) {
            true => format!("{parsed}"),
            false => return Err(wrong("number", "a finite number", value)),
        }
    };
    let (whole, fraction) = spelled.split_once('.').unwrap_or((&spelled, ""));
    // Without `decimals`, 5.0 is written as 5.
    let fraction = if decimals.is_none() && !is_text { fraction.trim_end_matches('0') } else { fraction };
    let (whole, fraction) = rounded(whole, fraction, decimals.map(|decimals| decimals as usize));
    let sign =
        text.starts_with('-') && [&whole, &fraction].iter().any(|part| part.bytes().any(|b| b != b'0'));
    let mut written = String::from(if sign { "-" } else { "" });
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            written.push_str(thousands);
        }
        written.push(digit);
    }
    if !fraction.is_empty() {
        written.push_str(point);
        written.push_str(&fraction);
    }
    Ok(written)
}

/// The digits before and after the point, with so many after it.
fn rounded(whole: &str, fraction: &str, decimals: Option<usize>) -> (String, String) {
    let whole = whole.trim_start_matches('0');
    let Some(decimals) = decimals else {
        return (if whole.is_empty() { "0" } else { whole }.to_owned(), fraction.to_owned());
    };
    let kept: String = fraction.chars().chain(std::iter::repeat('0')).take(decimals).collect();
    let mut digits: Vec<u8> = whole.bytes().chain(kept.bytes()).collect();
    if fraction.as_bytes().get(decimals).is_some_and(|next| *next >= b'5') {
        let nines = digits.iter().rev().take_while(|digit| **digit == b'9').count();
        let at = digits.len() - nines;
        let (left, right) = digits.split_at_mut(at);
        right.fill(b'0');
        match left.last_mut() {
            Some(digit) => *digit += 1,
            None => digits.insert(0, b'1'),
        }
    }
    let text = String::from_utf8_lossy(&digits).into_owned();
    let (whole, fraction) = text.split_at(text.len() - decimals);
    (if whole.is_empty() { "0" } else { whole }.to_owned(), fraction.to_owned())
}

/// A date or time in ISO form, by a pattern of `%` letters.
pub(super) fn date(value: &Value, pattern: &str) -> Result<String, Error> {
    if is_nothing(value)? {
        return Ok(String::new());
    }
    let bad = |message: String| Error::new(ErrorKind::InvalidOperation, message);
    if !pattern.contains('%') || pattern.len() > PATTERN_BYTES_MAX {
        return Err(bad(format!(
            "the pattern of `date` is made of `%` letters, such as `%d.%m.%Y %H:%M`, in at most {PATTERN_BYTES_MAX} bytes"
        )));
    }
    let expected = "a date or time such as `2026-11-21` or `2026-11-21T10:00:00Z`";
    let text = value.as_str().ok_or_else(|| wrong("date", expected, value))?;
    let pieces = Pieces::parse(text.trim()).map_err(|_| wrong("date", expected, value))?;
    let mut parts = BrokenDownTime::from(pieces.date().to_datetime(pieces.time().unwrap_or_default()));
    parts.set_offset(pieces.to_numeric_offset());
    parts.to_string(pattern).map_err(|error| bad(format!("`date` cannot write by this pattern: {error}")))
}

/// At most `length` characters, `end` among them; at a space where one is there, as Jinja does it.
fn truncate(text: &str, length: usize, leeway: usize, killwords: bool, end: &str) -> Result<String, Error> {
    let characters = text.chars().count();
    if characters <= length.saturating_add(leeway) {
        return Ok(text.to_owned());
    }
    let Some(room) = length.checked_sub(end.chars().count()) else {
        let message = format!("`truncate` to {length} characters leaves no room for its end");
        return Err(Error::new(ErrorKind::InvalidOperation, message));
    };
    let cut = text.char_indices().nth(room).map_or(text, |(at, _)| &text[..at]);
    let kept = if killwords { cut } else { cut.rsplit_once(' ').map_or(cut, |(kept, _)| kept) };
    Ok(format!("{kept}{end}"))
}

/// How many bytes a `printf` format may write beside its values, and how many conversions it has.
///
/// # Errors
/// For a width that is a value (`*`) or above 1,000.
pub(super) fn widths(format: &str) -> Result<(u64, u64), Error> {
    const WIDTH_MAX: u64 = 1_000;
    let bad = |message: String| Err(Error::new(ErrorKind::InvalidOperation, message));
    let (mut bytes, mut conversions) = (format.len() as u64, 0);
    for spec in format.split('%').skip(1) {
        conversions += 1;
        let spec = match spec.strip_prefix('(') {
            Some(named) => named.split_once(')').map_or("", |(_, rest)| rest),
            None => spec,
        };
        let end = spec.find(|c: char| !matches!(c, '0'..='9' | '.' | '#' | '-' | ' ' | '+' | '*'));
        let spec = &spec[..end.unwrap_or(spec.len())];
        if spec.contains('*') {
            return bad("a format takes widths as numbers here, not `*`".to_owned());
        }
        for digits in spec.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty()) {
            let width = digits.parse::<u64>().unwrap_or(u64::MAX);
            if width > WIDTH_MAX {
                return bad(format!("a format takes widths up to {WIDTH_MAX} here"));
            }
            bytes += width;
        }
    }
    Ok((bytes, conversions))
}
