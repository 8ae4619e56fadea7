//! Durations: ISO 8601 and `HH:MM:SS` text to seconds and back.

use luaplan_base::fixed_point;

use super::super::call::{Call, quoted};
use super::super::value::{Result, Value};
use super::DATE_INSTRUCTIONS;

const SECOND_NANOS: i128 = 1_000_000_000;
const DAY_SECONDS: i128 = 86_400;

/// Whole doubles up to here are exact; no database has a longer interval.
const SECONDS_MAX: f64 = 9_007_199_254_740_992.0;

const DAYS_PER_MONTH: &str = "days_per_month";
const DAYS_PER_YEAR: &str = "days_per_year";

/// The plan's lengths for units without a fixed length, in nanoseconds.
#[derive(Debug, Default)]
struct Lengths {
    month: Option<i128>,
    year: Option<i128>,
}

pub(super) fn duration<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let text = call.utf8(0, "text")?;
    call.charge(DATE_INSTRUCTIONS)?;
    let lengths = lengths(call)?;
    let nanos = read(&text, &lengths).map_err(|message| call.fail(message))?;
    seconds(nanos).ok_or_else(|| call.fail(format_args!("{} is too long", quoted(&text))))
}

/// Every part has the sign, as PostgreSQL writes and reads it.
pub(super) fn iso_duration<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    call.charge(DATE_INSTRUCTIONS)?;
    let number = call.number(0, "seconds")?;
    if !(-SECONDS_MAX..=SECONDS_MAX).contains(&number) {
        return Err(
            call.fail(format_args!("argument 1 (seconds) must be between -2^53 and 2^53, got {number:?}"))
        );
    }
    let sign = if number < 0.0 { "-" } else { "" };
    let size = number.abs();
    // The shortest form of the number, unless that is finer than a nanosecond.
    let mut text = size.to_string();
    if text.split_once('.').is_some_and(|(_, fraction)| fraction.len() > 9) {
        text = format!("{size:.9}").trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole: u64 = whole.parse().unwrap_or_default();
    let part =
        |number: u64, unit: &str| if number == 0 { String::new() } else { format!("{sign}{number}{unit}") };
    let days = part(whole / 86_400, "D");
    let mut time = part(whole / 3_600 % 24, "H") + &part(whole / 60 % 60, "M");
    match (whole % 60, fraction) {
        (seconds, "") => time.push_str(&part(seconds, "S")),
        (seconds, fraction) => time.push_str(&format!("{sign}{seconds}.{fraction}S")),
    }
    call.give(match (days.is_empty(), time.is_empty()) {
        (true, true) => "PT0S".to_owned(),
        (false, true) => format!("P{days}"),
        _ => format!("P{days}T{time}"),
    })
}

fn lengths<'v>(call: &Call<'v>) -> Result<Lengths> {
    let Some(options) = call.options(1, &[DAYS_PER_MONTH, DAYS_PER_YEAR])? else {
        return Ok(Lengths::default());
    };
    let length = |name: &str| -> Result<Option<i128>> {
        let days = match options.get(name)? {
            Value::Nil => return Ok(None),
            Value::Integer(days) => days as f64,
            Value::Number(days) => days,
            other => {
                return Err(call.fail(format_args!("{name} must be a number, got {}", call.describe(&other))));
            }
        };
        if !(0.0..=1_000.0).contains(&days) {
            return Err(call.fail(format_args!("{name} must be from 0 to 1000, got {days}")));
        }
        Ok(Some((days * 86_400e9).round() as i128))
    };
    Ok(Lengths { month: length(DAYS_PER_MONTH)?, year: length(DAYS_PER_YEAR)? })
}

/// A whole number where there is no fraction; `None` beyond 64 bits.
fn seconds<'v>(nanos: i128) -> Option<Value<'v>> {
    let whole = i64::try_from(nanos / SECOND_NANOS).ok()?;
    if nanos % SECOND_NANOS == 0 {
        return Some(Value::Integer(whole));
    }
    fixed_point(nanos, 9).parse().ok().map(Value::Number)
}

/// The nanoseconds of a text; why it has none otherwise.
fn read(text: &str, lengths: &Lengths) -> Result<i128, String> {
    let trimmed = text.trim();
    let (negative, rest) = match trimmed.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, trimmed.strip_prefix('+').unwrap_or(trimmed)),
    };
    let nanos = match rest.strip_prefix('P') {
        Some(parts) => iso(parts, lengths).map_err(|fault| match fault {
            DurationFault::Form => not_a_duration(text),
            DurationFault::NoLength(unit, option, example) => format!(
                "{} has {unit}, which have no fixed length: say how many days one has, as with {{{option} = {example}}}",
                quoted(text)
            ),
        })?,
        None => clock(rest).ok_or_else(|| not_a_duration(text))?,
    };
    Ok(if negative { -nanos } else { nanos })
}

fn not_a_duration(text: &str) -> String {
    format!("{} is not a duration, which is like P1DT2H3.5S or 26:00:03.5", quoted(text))
}

enum DurationFault {
    Form,
    /// The unit, the option that gives it a length, a common value.
    NoLength(&'static str, &'static str, u16),
}

/// What comes after the `P`: numbers with their units, from the largest to the smallest. Only the last may have a
/// fraction.
fn iso(parts: &str, lengths: &Lengths) -> Result<i128, DurationFault> {
    let mut rest = parts;
    let (mut in_time, mut last_rank, mut sum) = (false, 0, 0_i128);
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix('T') {
            if in_time || time.is_empty() {
                return Err(DurationFault::Form);
            }
            (in_time, rest) = (true, time);
            continue;
        }
        let end = rest.find(|letter: char| letter.is_ascii_alphabetic()).ok_or(DurationFault::Form)?;
        let (number, unit) = rest.split_at(end);
        rest = unit.get(1..).unwrap_or_default();
        let unit = unit.get(..1).unwrap_or_default();
        let (rank, length) = match (in_time, unit) {
            (false, "Y") => (1, lengths.year.ok_or(DurationFault::NoLength("years", DAYS_PER_YEAR, 365))?),
            (false, "M") => (2, lengths.month.ok_or(DurationFault::NoLength("months", DAYS_PER_MONTH, 30))?),
            (false, "W") => (3, 7 * DAY_SECONDS * SECOND_NANOS),
            (false, "D") => (4, DAY_SECONDS * SECOND_NANOS),
            (true, "H") => (5, 3_600 * SECOND_NANOS),
            (true, "M") => (6, 60 * SECOND_NANOS),
            (true, "S") => (7, SECOND_NANOS),
            _ => return Err(DurationFault::Form),
        };
        if rank <= last_rank || (number.contains(['.', ',']) && !rest.is_empty()) {
            return Err(DurationFault::Form);
        }
        last_rank = rank;
        sum += scaled(number, length).ok_or(DurationFault::Form)?;
    }
    if last_rank == 0 { Err(DurationFault::Form) } else { Ok(sum) }
}

/// `26:00:03.5`, with any number of hours.
fn clock(text: &str) -> Option<i128> {
    let mut parts = text.split(':');
    let (hours, minutes, seconds) = (parts.next()?, parts.next()?, parts.next()?);
    let whole_seconds = seconds.split('.').next()?;
    let two_digits = |part: &str| part.len() == 2 && part < "60";
    let signed = [hours, minutes, seconds].iter().any(|part| part.contains(['-', '+', ',']));
    if parts.next().is_some()
        || signed
        || hours.contains('.')
        || !two_digits(minutes)
        || !two_digits(whole_seconds)
    {
        return None;
    }
    let hours = scaled(hours, 3_600 * SECOND_NANOS)?;
    Some(hours + scaled(minutes, 60 * SECOND_NANOS)? + scaled(seconds, SECOND_NANOS)?)
}

/// A number as text times a length: exact, as long as the fraction has nine digits at most.
fn scaled(number: &str, length: i128) -> Option<i128> {
    const DIGITS_MAX: usize = 15;
    let (negative, digits) = match number.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) =
        digits.split_once(['.', ',']).map_or((digits, None), |(whole, part)| (whole, Some(part)));
    let plain = |text: &str, most: usize| {
        (1..=most).contains(&text.len()) && text.bytes().all(|digit| digit.is_ascii_digit())
    };
    if !plain(whole, DIGITS_MAX) || fraction.is_some_and(|fraction| !plain(fraction, 9)) {
        return None;
    }
    let mut nanos = whole.parse::<i128>().ok()? * length;
    if let Some(fraction) = fraction {
        nanos += fraction.parse::<i128>().ok()? * length / 10_i128.pow(u32::try_from(fraction.len()).ok()?);
    }
    Some(if negative { -nanos } else { nanos })
}
