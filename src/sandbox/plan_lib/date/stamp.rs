//! A date, or date and time, read from text and written back in the same form.

use std::fmt;

use jiff::SignedDuration;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use super::super::call::quoted;

/// The years that have four digits.
const YEARS: std::ops::RangeInclusive<i16> = 1..=9999;

/// The error for a date out of [`YEARS`].
pub(super) const OUT_OF_YEARS: &str = "the result is not between the years 0001 and 9999";

/// The start of Unix time, on a clock at UTC.
pub(super) const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// The date of a text, and the form it was written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    /// The local date and time; midnight where only a date was given.
    pub(super) at: DateTime,
    /// How the time was written; nothing where only a date was given.
    pub(super) time: Option<TimeForm>,
}

/// How the time part is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TimeForm {
    /// `T` or a space.
    pub(super) separator: char,
    /// Digits of the fraction of a second, 0 to 9.
    pub(super) fraction_digits: usize,
    /// The offset from UTC, where one was given; true: written `Z`.
    pub(super) offset: Option<(Offset, bool)>,
}

impl TimeForm {
    /// `T`, whole seconds, no offset.
    pub(super) const PLAIN: Self = Self { separator: 'T', fraction_digits: 0, offset: None };
}

impl Stamp {
    /// A date alone.
    pub(super) fn of_date(date: Date) -> Self {
        Self { at: date.to_datetime(jiff::civil::Time::midnight()), time: None }
    }

    /// The same form with another date and time, unless that has no four-digit year.
    pub(super) fn moved(self, at: DateTime) -> Result<Self, String> {
        if YEARS.contains(&at.year()) { Ok(Self { at, ..self }) } else { Err(OUT_OF_YEARS.to_owned()) }
    }

    /// The offset from UTC in seconds; a text without one is taken to be UTC.
    pub(super) fn offset_seconds(&self) -> i64 {
        self.time.and_then(|time| time.offset).map_or(0, |(offset, _)| offset.seconds().into())
    }

    /// The time since 1970-01-01T00:00:00Z.
    pub(super) fn since_epoch(&self) -> SignedDuration {
        self.at.duration_since(EPOCH) - SignedDuration::from_secs(self.offset_seconds())
    }

    /// The date and time a clock with that offset shows, unless it has no four-digit year.
    pub(super) fn at_offset(&self, offset_seconds: i64) -> Option<DateTime> {
        EPOCH.checked_add(self.since_epoch() + SignedDuration::from_secs(offset_seconds)).ok()
    }

    /// Reads ISO 8601 text and the forms databases print.
    ///
    /// `2026-11-21`; `T` or a space and `10:00`, `10:00:00`, `10:00:00.123`; then nothing, `Z`,
    /// ` UTC` or an offset such as `+02:00`, `+0200`, `+02`.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let bad = |what: &str| format!("{} is not a date: {what}", quoted(text));
        let mut rest = Cursor(text.trim().as_bytes());
        let number = |rest: &mut Cursor<'_>, digits, what: &str| {
            rest.number(digits).ok_or_else(|| bad(&format!("{what} wanted, as in 2026-11-21")))
        };
        let year = number(&mut rest, 4, "a four-digit year")?;
        rest.eat(b'-').ok_or_else(|| bad("a dash wanted after the year, as in 2026-11-21"))?;
        let month = number(&mut rest, 2, "a two-digit month")?;
        rest.eat(b'-').ok_or_else(|| bad("a dash wanted after the month, as in 2026-11-21"))?;
        let day = number(&mut rest, 2, "a two-digit day")?;
        if !(1..=12).contains(&month) {
            return Err(bad(&format!("there is no month {month}")));
        }
        let date = Date::new(year as i16, month as i8, day as i8)
            .ok()
            .filter(|date| YEARS.contains(&date.year()))
            .ok_or_else(|| bad(&format!("{year:04}-{month:02} has no day {day}")))?;
        if rest.0.is_empty() {
            return Ok(Self::of_date(date));
        }
        let separator = match rest.0[0] {
            b'T' | b't' => 'T',
            b' ' => ' ',
            _ => return Err(bad("after the day comes T or a space and the time, or nothing")),
        };
        rest.0 = &rest.0[1..];
        let time = rest.time().ok_or_else(|| bad("the time must be like 10:00, 10:00:00 or 10:00:00.5"))?;
        let (hour, minute, second, nanos, fraction_digits) = time;
        if hour > 23 || minute > 59 || second > 59 {
            return Err(bad(&format!("there is no time {hour:02}:{minute:02}:{second:02}")));
        }
        let offset = rest.offset().ok_or_else(|| bad("an offset must be Z, UTC or like +02:00"))?;
        Ok(Self {
            at: date.at(hour as i8, minute as i8, second as i8, nanos as i32),
            time: Some(TimeForm { separator, fraction_digits, offset }),
        })
    }
}

/// An offset on its own, `Z` or `+02:00`.
pub(super) fn parse_offset(text: &str) -> Option<(Offset, bool)> {
    Cursor(text.trim().as_bytes()).offset().flatten()
}

struct Cursor<'a>(&'a [u8]);

impl Cursor<'_> {
    fn eat(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }

    fn number(&mut self, digits: usize) -> Option<u32> {
        let (part, rest) = self.0.split_at_checked(digits)?;
        let mut number = 0;
        for byte in part {
            number = number * 10 + char::from(*byte).to_digit(10)?;
        }
        self.0 = rest;
        Some(number)
    }

    /// Hour, minute, second, nanoseconds and the digits of the fraction.
    fn time(&mut self) -> Option<(u32, u32, u32, u32, usize)> {
        let hour = self.number(2)?;
        self.eat(b':')?;
        let minute = self.number(2)?;
        let second =
            if self.eat(b':').is_some() { self.number(2)? } else { return Some((hour, minute, 0, 0, 0)) };
        let (mut nanos, mut digits) = (0, 0);
        if self.eat(b'.').or_else(|| self.eat(b',')).is_some() {
            while let Some(digit) = self.number(1) {
                // Finer than a nanosecond is dropped.
                if digits < 9 {
                    nanos = nanos * 10 + digit;
                    digits += 1;
                }
            }
            if digits == 0 {
                return None;
            }
            nanos *= 10_u32.pow(9 - digits as u32);
        }
        Some((hour, minute, second, nanos, digits))
    }

    /// What is left as an offset; `Some(None)` where nothing is left.
    fn offset(&mut self) -> Option<Option<(Offset, bool)>> {
        let text = self.0.trim_ascii();
        let sign = match text {
            [] => return Some(None),
            b"Z" | b"z" | b"UTC" | b"GMT" => return Some(Some((Offset::UTC, true))),
            [b'+', ..] => 1,
            [b'-', ..] => -1,
            _ => return None,
        };
        let mut rest = Cursor(&text[1..]);
        let hours = rest.number(2)?;
        let mut minutes = 0;
        if !rest.0.is_empty() {
            let _ = rest.eat(b':');
            minutes = rest.number(2)?;
        }
        if !rest.0.is_empty() || hours > 23 || minutes > 59 {
            return None;
        }
        let seconds = sign * (hours * 3600 + minutes * 60) as i32;
        Some(Some((Offset::from_seconds(seconds).ok()?, false)))
    }
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        write!(f, "{:04}-{:02}-{:02}", at.year(), at.month(), at.day())?;
        let Some(form) = self.time else { return Ok(()) };
        write!(f, "{}{:02}:{:02}:{:02}", form.separator, at.hour(), at.minute(), at.second())?;
        if form.fraction_digits > 0 {
            let nanos = format!("{:09}", at.subsec_nanosecond());
            write!(f, ".{}", &nanos[..form.fraction_digits])?;
        }
        match form.offset {
            None => Ok(()),
            Some((_, true)) => f.write_str("Z"),
            Some((offset, false)) => write_offset(f, offset),
        }
    }
}

fn write_offset(f: &mut fmt::Formatter<'_>, offset: Offset) -> fmt::Result {
    let minutes = offset.seconds() / 60;
    let sign = if minutes < 0 { '-' } else { '+' };
    write!(f, "{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}
