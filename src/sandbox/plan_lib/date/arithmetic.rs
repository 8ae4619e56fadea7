//! Adding to dates, differences between them, and the bounds of months, weeks and days.

use jiff::civil::{DateTime, Weekday};
use jiff::{SignedDuration, Span, Unit as JiffUnit};

use super::stamp::{OUT_OF_YEARS, Stamp, TimeForm};

/// A unit of time, by the names plans use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Years,
    Quarters,
    Months,
    Weeks,
    Days,
    Hours,
    Minutes,
    Seconds,
    Milliseconds,
}

impl Unit {
    /// The names, for messages.
    pub(super) const NAMES: &'static str =
        "years, quarters, months, weeks, days, hours, minutes, seconds or milliseconds";

    /// Reads a name, singular or plural.
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name.strip_suffix('s').unwrap_or(name) {
            "year" => Self::Years,
            "quarter" => Self::Quarters,
            "month" => Self::Months,
            "week" => Self::Weeks,
            "day" => Self::Days,
            "hour" => Self::Hours,
            "minute" | "min" => Self::Minutes,
            "second" | "sec" => Self::Seconds,
            "millisecond" => Self::Milliseconds,
            _ => return None,
        })
    }

    fn is_time(self) -> bool {
        matches!(self, Self::Hours | Self::Minutes | Self::Seconds | Self::Milliseconds)
    }
}

/// How far to move: calendar months, then days, then exact time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Distance {
    months: i64,
    days: i64,
    millis: i64,
    has_time: bool,
    has_millis: bool,
}

impl Distance {
    /// Adds so many of a unit.
    pub(super) fn with(mut self, count: i64, unit: Unit) -> Result<Self, String> {
        let (field, factor) = match unit {
            Unit::Years => (&mut self.months, 12),
            Unit::Quarters => (&mut self.months, 3),
            Unit::Months => (&mut self.months, 1),
            Unit::Weeks => (&mut self.days, 7),
            Unit::Days => (&mut self.days, 1),
            Unit::Hours => (&mut self.millis, 3_600_000),
            Unit::Minutes => (&mut self.millis, 60_000),
            Unit::Seconds => (&mut self.millis, 1000),
            Unit::Milliseconds => (&mut self.millis, 1),
        };
        *field = count.checked_mul(factor).and_then(|more| field.checked_add(more)).ok_or_else(too_far)?;
        self.has_time |= unit.is_time();
        self.has_millis |= unit == Unit::Milliseconds;
        Ok(self)
    }

    /// So many times this far.
    pub(super) fn times(self, count: i64) -> Result<Self, String> {
        let times = |part: i64| part.checked_mul(count).ok_or_else(too_far);
        Ok(Self { months: times(self.months)?, days: times(self.days)?, millis: times(self.millis)?, ..self })
    }

    /// Whether it moves a date nowhere.
    pub(super) fn is_zero(self) -> bool {
        self.months == 0 && self.days == 0 && self.millis == 0
    }
}

fn too_far() -> String {
    "the distance is too large".to_owned()
}

/// Moves by a distance. A day the month does not have becomes its last; a date that is moved by
/// hours or less gains a time.
pub(super) fn add(stamp: Stamp, distance: Distance) -> Result<Stamp, String> {
    // One span has one sign for all its units, so each has its own.
    let months = Span::new().try_months(distance.months).map_err(|_| too_far())?;
    let days = Span::new().try_days(distance.days).map_err(|_| too_far())?;
    let at = stamp
        .at
        .checked_add(months)
        .and_then(|at| at.checked_add(days))
        .and_then(|at| at.checked_add(SignedDuration::from_millis(distance.millis)))
        .map_err(|_| OUT_OF_YEARS.to_owned())?;
    let mut time = stamp.time;
    if distance.has_time {
        let form = time.get_or_insert(TimeForm::PLAIN);
        if distance.has_millis {
            form.fraction_digits = form.fraction_digits.max(3);
        }
    }
    Stamp { time, ..stamp }.moved(at)
}

/// Whole units from `from` to `to`; negative where `to` is earlier; the remainder is dropped.
pub(super) fn diff(from: &Stamp, to: &Stamp, unit: Unit) -> Result<i64, String> {
    let exact = |millis: i128| {
        let passed = (to.since_epoch() - from.since_epoch()).as_nanos();
        i64::try_from(passed / (millis * 1_000_000)).map_err(|_| too_far())
    };
    let months = || {
        // Months are counted on the calendar of the first text's offset.
        let there = to.at_offset(from.offset_seconds()).ok_or_else(too_far)?;
        from.at
            .until((JiffUnit::Month, there))
            .map(|span| i64::from(span.get_months()))
            .map_err(|_| too_far())
    };
    match unit {
        Unit::Years => Ok(months()? / 12),
        Unit::Quarters => Ok(months()? / 3),
        Unit::Months => months(),
        Unit::Weeks => exact(7 * 86_400_000),
        Unit::Days => exact(86_400_000),
        Unit::Hours => exact(3_600_000),
        Unit::Minutes => exact(60_000),
        Unit::Seconds => exact(1000),
        Unit::Milliseconds => exact(1),
    }
}

/// Earlier, same or later.
pub(super) fn compare(a: &Stamp, b: &Stamp) -> std::cmp::Ordering {
    a.since_epoch().cmp(&b.since_epoch())
}

/// The first instant of the unit the text lies in; weeks start on Monday.
pub(super) fn start_of(stamp: Stamp, unit: Unit) -> Result<Stamp, String> {
    if unit.is_time() && stamp.time.is_none() {
        return Ok(stamp);
    }
    let (at, date) = (stamp.at, stamp.at.date());
    let first = match unit {
        Unit::Years => date.first_of_year(),
        Unit::Quarters => {
            let month = (date.month() - 1) / 3 * 3 + 1;
            jiff::civil::date(date.year(), month, 1)
        }
        Unit::Months => date.first_of_month(),
        Unit::Weeks => {
            let back = date.weekday().since(Weekday::Monday);
            date.checked_sub(Span::new().days(i64::from(back))).map_err(|_| too_far())?
        }
        _ => date,
    };
    let (hour, minute, second) = (at.hour(), at.minute(), at.second());
    let (hour, minute, second, nanos) = match unit {
        Unit::Hours => (hour, 0, 0, 0),
        Unit::Minutes => (hour, minute, 0, 0),
        Unit::Seconds => (hour, minute, second, 0),
        Unit::Milliseconds => (hour, minute, second, at.subsec_nanosecond() / 1_000_000 * 1_000_000),
        _ => (0, 0, 0, 0),
    };
    stamp.moved(first.at(hour, minute, second, nanos))
}

/// The last instant of the unit the text lies in, as finely as the text writes its time; for a
/// date, the last day.
pub(super) fn end_of(stamp: Stamp, unit: Unit) -> Result<Stamp, String> {
    if unit.is_time() && stamp.time.is_none() {
        return Ok(stamp);
    }
    let start = start_of(stamp, unit)?;
    let span = match unit {
        Unit::Years => Span::new().years(1),
        Unit::Quarters => Span::new().months(3),
        Unit::Months => Span::new().months(1),
        Unit::Weeks => Span::new().weeks(1),
        Unit::Days => Span::new().days(1),
        Unit::Hours => Span::new().hours(1),
        Unit::Minutes => Span::new().minutes(1),
        Unit::Seconds => Span::new().seconds(1),
        Unit::Milliseconds => Span::new().milliseconds(1),
    };
    let step = match stamp.time {
        None => SignedDuration::from_hours(24),
        Some(form) => SignedDuration::from_nanos(10_i64.pow(9 - form.fraction_digits.min(9) as u32)),
    };
    // The year after 9999 has four digits no more, but the type still holds its first instant's eve.
    match start.at.checked_add(span).and_then(|next| next.checked_sub(step)) {
        Ok(end) => stamp.moved(end),
        Err(_) => stamp.moved(DateTime::MAX),
    }
}
