//! Dates by a pattern of `%` letters, and from one.

use jiff::fmt::strtime::BrokenDownTime;

use super::super::call::quoted;
use super::stamp::{Stamp, TimeForm};

/// Writes by a pattern, for example `%d.%m.%Y %H:%M`.
pub(super) fn format(stamp: &Stamp, pattern: &str) -> Result<String, String> {
    let mut parts = BrokenDownTime::from(stamp.at);
    parts.set_offset(stamp.time.and_then(|time| time.offset).map(|(offset, _)| offset));
    parts.to_string(pattern).map_err(|error| format!("cannot write as {}: {error}", quoted(pattern)))
}

/// Reads by a pattern; the time, where there is one, after `T`.
pub(super) fn read(text: &str, pattern: &str) -> Result<Stamp, String> {
    let bad = |error: jiff::Error| format!("{} cannot be read as {}: {error}", quoted(text), quoted(pattern));
    let parts = BrokenDownTime::parse(pattern, text).map_err(bad)?;
    let date = parts.to_date().map_err(bad)?;
    let stamp = Stamp::of_date(date);
    if parts.hour().is_none() {
        return stamp.moved(stamp.at);
    }
    let time = parts.to_time().map_err(bad)?;
    let fraction_digits = if time.subsec_nanosecond() == 0 { 0 } else { 9 };
    let offset = parts.offset().map(|offset| (offset, false));
    Stamp { time: Some(TimeForm { fraction_digits, offset, ..TimeForm::PLAIN }), ..stamp }
        .moved(date.to_datetime(time))
}

/// Reads the date of an e-mail or an HTTP header (RFC 2822): `Sat, 21 Nov 2026 10:00:00 +0000`.
pub(super) fn read_mail(text: &str) -> Option<Stamp> {
    let zoned = jiff::fmt::rfc2822::DateTimeParser::new().parse_zoned(text.trim()).ok()?;
    let offset = (zoned.offset(), zoned.offset() == jiff::tz::Offset::UTC);
    let time = TimeForm { offset: Some(offset), ..TimeForm::PLAIN };
    Stamp { at: zoned.datetime(), time: Some(time) }.moved(zoned.datetime()).ok()
}
