//! `date`: calendar arithmetic on ISO text. No clock: `now` is the recorded start of the run. No time zones but fixed offsets.

mod arguments;
mod arithmetic;
mod duration;
mod format;
mod parts;
mod stamp;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

use super::call::{Call, LibFunction};
use super::value::{Result, Value};
use arguments::{DATE_INSTRUCTIONS, distance, give, offset, pass, stamp, unit};
use stamp::{EPOCH, OUT_OF_YEARS, Stamp, TimeForm};

pub(super) static NATIVES: &[LibFunction] = &[
    LibFunction { name: "now", run: now },
    LibFunction { name: "today", run: today },
    LibFunction { name: "parse", run: parse },
    LibFunction { name: "valid", run: valid },
    LibFunction { name: "format", run: format_as },
    LibFunction { name: "add", run: add },
    LibFunction { name: "diff", run: diff },
    LibFunction { name: "compare", run: compare },
    LibFunction { name: "start_of", run: start_of },
    LibFunction { name: "end_of", run: end_of },
    LibFunction { name: "range", run: range },
    LibFunction { name: "parts", run: parts::parts },
    LibFunction { name: "make", run: parts::make },
    LibFunction { name: "weekday", run: parts::weekday },
    LibFunction { name: "weekday_name", run: parts::weekday_name },
    LibFunction { name: "month_name", run: parts::month_name },
    LibFunction { name: "week", run: parts::week },
    LibFunction { name: "week_year", run: parts::week_year },
    LibFunction { name: "days_in_month", run: parts::days_in_month },
    LibFunction { name: "is_leap_year", run: parts::is_leap_year },
    LibFunction { name: "unix", run: unix },
    LibFunction { name: "from_unix", run: from_unix },
    LibFunction { name: "to_utc", run: to_utc },
    LibFunction { name: "duration", run: duration::duration },
    LibFunction { name: "iso_duration", run: duration::iso_duration },
];

/// The start of the run.
fn now<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (at, offset) = run_start(call)?;
    let time = TimeForm { offset: Some(offset), ..TimeForm::PLAIN };
    give(call, Stamp { at, time: Some(time) }.moved(at))
}

/// The day on which the run started.
fn today<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (at, _) = run_start(call)?;
    give(call, Stamp::of_date(at.date()).moved(at.date().into()))
}

/// The start of the run as a clock shows it whose offset is the first argument, else one in UTC.
fn run_start(call: &Call<'_>) -> Result<(DateTime, (Offset, bool))> {
    call.charge(DATE_INSTRUCTIONS)?;
    let offset = if call.is_absent(0) { (Offset::UTC, true) } else { offset(call, 0)? };
    let Some(seconds) = call.host.run_started_s() else {
        return Err(call.fail("it is not known when this run started"));
    };
    let at = Timestamp::from_second(seconds).map_err(|_| call.fail(OUT_OF_YEARS))?;
    Ok((offset.0.to_datetime(at), offset))
}

fn read(call: &Call<'_>) -> Result<Result<Stamp, String>> {
    let text = call.utf8(0, "text")?;
    call.charge(DATE_INSTRUCTIONS)?;
    if call.is_absent(1) {
        return Ok(Stamp::parse(&text).or_else(|why| format::read_mail(&text).ok_or(why)));
    }
    Ok(format::read(&text, &call.utf8(1, "format")?))
}

fn parse<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let read = read(call)?;
    give(call, read)
}

fn valid<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    if !matches!(call.arg(0), Value::String(_)) {
        return Ok(Value::Boolean(false));
    }
    Ok(Value::Boolean(read(call)?.is_ok()))
}

fn format_as<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let stamp = stamp(call, 0, "iso")?;
    let pattern = call.utf8(1, "format")?;
    call.charge_bytes(pattern.len().saturating_mul(16))?;
    call.give(pass(call, format::format(&stamp, &pattern))?)
}

fn add<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let stamp = stamp(call, 0, "iso")?;
    let distance = distance(call, 1, 2)?;
    give(call, arithmetic::add(stamp, distance))
}

fn diff<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (from, to) = (stamp(call, 0, "from")?, stamp(call, 1, "to")?);
    let unit = if call.is_absent(2) { arithmetic::Unit::Days } else { unit(call, 2)? };
    Ok(Value::Integer(pass(call, arithmetic::diff(&from, &to, unit))?))
}

fn compare<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (a, b) = (stamp(call, 0, "a")?, stamp(call, 1, "b")?);
    Ok(Value::Integer(arithmetic::compare(&a, &b) as i64))
}

fn start_of<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let stamp = stamp(call, 0, "iso")?;
    let unit = unit(call, 1)?;
    give(call, arithmetic::start_of(stamp, unit))
}

fn end_of<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let stamp = stamp(call, 0, "iso")?;
    let unit = unit(call, 1)?;
    give(call, arithmetic::end_of(stamp, unit))
}

/// Every date from `from` to `to`, both included. Each is counted from the first, so that a
/// month's end stays one.
fn range<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (from, to) = (stamp(call, 0, "from")?, stamp(call, 1, "to")?);
    let step = if call.is_absent(2) {
        arithmetic::Distance::default().with(1, arithmetic::Unit::Days).unwrap_or_default()
    } else {
        distance(call, 2, 3)?
    };
    let second = pass(call, arithmetic::add(from, step))?;
    let direction = arithmetic::compare(&second, &from);
    if step.is_zero() || direction.is_eq() {
        return Err(call.fail("argument 3 (step) must not be zero"));
    }
    let list = call.host.table(0, 0)?;
    let mut index = 0;
    let mut current = from;
    while arithmetic::compare(&current, &to) != direction {
        call.charge(DATE_INSTRUCTIONS)?;
        index += 1;
        list.set_item(index, Value::text(current.to_string()))?;
        match step.times(index).and_then(|far| arithmetic::add(from, far)) {
            Ok(next) => current = next,
            // The calendar ends before `to` is passed.
            Err(_) => break,
        }
    }
    list.mark_array()?;
    Ok(Value::Table(list))
}

fn unix<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let since = stamp(call, 0, "iso")?.since_epoch();
    // Seconds before 1970 that are not whole belong to the second before them.
    Ok(Value::Integer(since.as_secs() - i64::from(since.subsec_nanos() < 0)))
}

fn from_unix<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let (seconds, millis) = match (call.as_integer(&call.arg(0)), call.number(0, "seconds")?) {
        (Some(seconds), _) => (seconds, 0),
        (None, seconds) if seconds.is_finite() => {
            (seconds.floor() as i64, ((seconds - seconds.floor()) * 1000.0).round() as i64)
        }
        (None, _) => return Err(call.fail("argument 1 (seconds) must be a finite number")),
    };
    let offset = if call.is_absent(1) { (Offset::UTC, true) } else { offset(call, 1)? };
    let fraction_digits = if millis == 0 { 0 } else { 3 };
    let local = seconds
        .checked_add(i64::from(offset.0.seconds()))
        .map(|seconds| jiff::SignedDuration::new(seconds, 0))
        .and_then(|since| since.checked_add(jiff::SignedDuration::from_millis(millis)))
        .and_then(|since| EPOCH.checked_add(since).ok());
    let Some(at) = local else {
        return Err(call.fail("argument 1 (seconds) is not between the years 0001 and 9999"));
    };
    let time = TimeForm { fraction_digits, offset: Some(offset), ..TimeForm::PLAIN };
    give(call, Stamp { at, time: Some(time) }.moved(at))
}

/// The same instant as a text that ends in `Z`.
fn to_utc<'v>(call: &Call<'v>) -> Result<Value<'v>> {
    let stamp = stamp(call, 0, "iso")?;
    let form = stamp.time.unwrap_or(TimeForm::PLAIN);
    let time = Some(TimeForm { offset: Some((Offset::UTC, true)), ..form });
    let utc = stamp.at_offset(0).ok_or_else(|| call.fail(OUT_OF_YEARS))?;
    give(call, Stamp { time, ..stamp }.moved(utc))
}
