//! The parts of a date, and a date from its parts.

use jiff::civil::Date;

use super::super::call::Call;
use super::super::value::{Result, Value};
use super::arguments::{give, stamp};
use super::stamp::{Stamp, TimeForm};

const WEEKDAYS: [&str; 7] = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

pub(super) fn parts<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let stamp = stamp(call, 0, "iso")?;
    let (at, week) = (stamp.at, stamp.at.date().iso_week_date());
    let parts = call.host.table(0, 0)?;
    let set = |name: &str, number: i64| parts.set(name.as_bytes(), Value::Integer(number));
    set("year", i64::from(at.year()))?;
    set("month", i64::from(at.month()))?;
    set("day", i64::from(at.day()))?;
    set("quarter", i64::from((at.month() - 1) / 3 + 1))?;
    set("weekday", i64::from(at.date().weekday().to_monday_one_offset()))?;
    set("yearday", i64::from(at.date().day_of_year()))?;
    set("week", i64::from(week.week()))?;
    set("week_year", i64::from(week.year()))?;
    if let Some(form) = stamp.time {
        set("hour", i64::from(at.hour()))?;
        set("min", i64::from(at.minute()))?;
        set("sec", i64::from(at.second()))?;
        set("nanosecond", i64::from(at.subsec_nanosecond()))?;
        if let Some((offset, _)) = form.offset {
            set("offset_minutes", i64::from(offset.seconds() / 60))?;
        }
    }
    Ok(Value::Table(parts))
}

/// `{year, month, day, hour?, min?, sec?, offset?}` → text. Nothing wraps: month 13 is an error.
pub(super) fn make<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    call.table(0, "parts")?;
    let Some(parts) = call.options(0, &["year", "month", "day", "hour", "min", "sec", "offset"])? else {
        return Err(call.fail("argument 1 (parts) must be a table"));
    };
    let part = |name: &str, default: Option<i64>, most: i64| -> Result<i64> {
        let value = parts.get(name)?;
        match (call.as_integer(&value), default) {
            (Some(number), _) if (0..=most).contains(&number) => Ok(number),
            (Some(number), _) => {
                Err(call.fail(format_args!("{name} must be from 0 to {most}, got {number}")))
            }
            (None, Some(default)) if value.is_nil() => Ok(default),
            (None, _) => {
                Err(call.fail(format_args!("{name} must be a whole number, got {}", call.describe(&value))))
            }
        }
    };
    let (year, month, day) =
        (part("year", None, 9999)?, part("month", Some(1), 12)?, part("day", Some(1), 31)?);
    let Ok(date) = Date::new(year as i16, month as i8, day as i8) else {
        return Err(call.fail(format_args!("{year:04}-{month:02} has no day {day}")));
    };
    let stamp = Stamp::of_date(date);
    let wants_offset = !parts.get("offset")?.is_nil();
    if parts.get("hour")?.is_nil() && !wants_offset {
        return give(call, stamp.moved(stamp.at));
    }
    let (hour, min, sec) = (part("hour", Some(0), 23)?, part("min", Some(0), 59)?, part("sec", Some(0), 59)?);
    let offset = match parts.get("offset")? {
        Value::Nil => None,
        value => Some(offset_of(call, &value)?),
    };
    let at = date.at(hour as i8, min as i8, sec as i8, 0);
    give(call, Stamp { at, time: Some(TimeForm { offset, ..TimeForm::PLAIN }) }.moved(at))
}

fn offset_of(call: &Call<'_>, value: &Value<'_>) -> Result<(jiff::tz::Offset, bool)> {
    let text = if let Value::String(text) = value { text.to_string_lossy() } else { String::new() };
    super::stamp::parse_offset(&text).ok_or_else(|| call.fail("offset must be text, Z or like +02:00"))
}

/// 1 is Monday, 7 is Sunday.
pub(super) fn weekday<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let stamp = stamp(call, 0, "iso")?;
    Ok(Value::Integer(stamp.at.date().weekday().to_monday_one_offset().into()))
}

pub(super) fn weekday_name<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let stamp = stamp(call, 0, "iso")?;
    call.give(WEEKDAYS[stamp.at.date().weekday().to_monday_zero_offset() as usize])
}

pub(super) fn month_name<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let stamp = stamp(call, 0, "iso")?;
    call.give(MONTHS[stamp.at.month() as usize - 1])
}

/// The ISO week; its year is not always the date's.
pub(super) fn week<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let stamp = stamp(call, 0, "iso")?;
    Ok(Value::Integer(stamp.at.date().iso_week_date().week().into()))
}

pub(super) fn week_year<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let stamp = stamp(call, 0, "iso")?;
    Ok(Value::Integer(stamp.at.date().iso_week_date().year().into()))
}

/// By a date, or by a year and a month.
pub(super) fn days_in_month<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    if call.is_absent(1) {
        return Ok(Value::Integer(stamp(call, 0, "iso")?.at.date().days_in_month().into()));
    }
    let (year, month) = (call.integer(0, "year")?, call.integer(1, "month")?);
    let first = i16::try_from(year).ok().zip(i8::try_from(month).ok());
    match first.and_then(|(year, month)| Date::new(year, month, 1).ok()) {
        Some(date) => Ok(Value::Integer(date.days_in_month().into())),
        None => Err(call.fail(format_args!("there is no month {month} of the year {year}"))),
    }
}

/// By a date, or by a year.
pub(super) fn is_leap_year<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let year = match call.arg(0) {
        Value::Integer(year) => i16::try_from(year).ok(),
        Value::Number(_) => i16::try_from(call.integer(0, "year")?).ok(),
        _ => Some(stamp(call, 0, "iso")?.at.year()),
    };
    match year.and_then(|year| Date::new(year, 1, 1).ok()) {
        Some(date) => Ok(Value::Boolean(date.in_leap_year())),
        None => Err(call.fail("argument 1 (year) must be a year or a date")),
    }
}
