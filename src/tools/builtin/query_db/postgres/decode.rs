//! Cells in PostgreSQL's binary result format.

use sqlx::TypeInfo;
use sqlx::postgres::{PgTypeInfo, PgTypeKind};

use luaplan_base::{Value, fixed_point};

use super::super::number::{decimal, float, fraction, json, seconds, single};
use super::super::result_columns::ColumnKind;
use super::super::settings::{Forms, Intervals};

const DAY_MICROS: i64 = 86_400_000_000;

/// The cell as a value; `None` where the type has no form here or the bytes do not fit it.
pub(super) fn decode(info: &PgTypeInfo, bytes: &[u8], forms: Forms) -> Option<Value> {
    match info.kind() {
        PgTypeKind::Enum(_) => text(bytes),
        PgTypeKind::Domain(base) => decode(base, bytes, forms),
        PgTypeKind::Array(element) => array(element, bytes, forms),
        _ => scalar(info.name(), bytes, forms),
    }
}

fn scalar(type_name: &str, bytes: &[u8], forms: Forms) -> Option<Value> {
    Some(match type_name {
        "BOOL" => Value::Bool(bytes.first().is_some_and(|byte| *byte != 0)),
        "INT2" => Value::Integer(i16::from_be_bytes(bytes.try_into().ok()?).into()),
        "INT4" => Value::Integer(i32::from_be_bytes(bytes.try_into().ok()?).into()),
        "INT8" => Value::Integer(big_i64(bytes)?),
        "OID" => Value::Integer(u32::from_be_bytes(bytes.try_into().ok()?).into()),
        "FLOAT4" => single(f32::from_be_bytes(bytes.try_into().ok()?))?,
        "FLOAT8" => float(f64::from_be_bytes(bytes.try_into().ok()?))?,
        "NUMERIC" => decimal(&numeric(bytes)?, forms.decimals)?,
        // In hundredths, as nearly every locale has it.
        "MONEY" => decimal(&fixed_point(big_i64(bytes)?.into(), 2), forms.decimals)?,
        "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "UNKNOWN" | "\"CHAR\"" | "citext" | "xml" => text(bytes)?,
        "BYTEA" => Value::from_lua_bytes(bytes.to_vec()),
        "JSON" => document(bytes)?,
        "JSONB" => document(bytes.get(1..)?)?,
        "UUID" => Value::String(uuid::Uuid::from_slice(bytes).ok()?.to_string()),
        "DATE" => date(i32::from_be_bytes(bytes.try_into().ok()?).into())?,
        "TIME" => Value::String(clock(big_i64(bytes)?)),
        "TIMETZ" => Value::String(clock_with_offset(bytes)?),
        "TIMESTAMP" => timestamp(big_i64(bytes)?, false)?,
        "TIMESTAMPTZ" => timestamp(big_i64(bytes)?, true)?,
        "INTERVAL" => interval(Span::read(bytes)?, forms.intervals)?,
        "INET" | "CIDR" => Value::String(inet(type_name, bytes)?),
        "MACADDR" | "MACADDR8" => {
            Value::String(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":"))
        }
        "BIT" | "VARBIT" => Value::String(bits(bytes)?),
        "VOID" => Value::Null,
        _ => return None,
    })
}

/// What a column of a type holds, by what [`decode`] makes of its cells.
pub(super) fn kind(info: &PgTypeInfo) -> ColumnKind {
    match info.kind() {
        PgTypeKind::Enum(_) => ColumnKind::Text,
        PgTypeKind::Domain(base) => kind(base),
        PgTypeKind::Array(_) => ColumnKind::List,
        _ => match info.name() {
            "BOOL" => ColumnKind::Boolean,
            "INT2" | "INT4" | "INT8" | "OID" => ColumnKind::Integer,
            "FLOAT4" | "FLOAT8" => ColumnKind::Number,
            "NUMERIC" | "MONEY" => ColumnKind::Decimal,
            "INTERVAL" => ColumnKind::Interval,
            "TEXT" | "VARCHAR" | "CHAR" | "NAME" | "citext" | "UUID" | "DATE" | "TIME" | "TIMETZ"
            | "TIMESTAMP" | "TIMESTAMPTZ" | "INET" | "CIDR" => ColumnKind::Text,
            _ => ColumnKind::Any,
        },
    }
}

fn big_i64(bytes: &[u8]) -> Option<i64> {
    bytes.try_into().ok().map(i64::from_be_bytes)
}

fn text(bytes: &[u8]) -> Option<Value> {
    Some(Value::from_lua_bytes(bytes.to_vec()))
}

fn document(bytes: &[u8]) -> Option<Value> {
    json(std::str::from_utf8(bytes).ok()?)
}

/// Dimensions, then elements with their lengths, the last dimension fastest.
fn array(element: &PgTypeInfo, bytes: &[u8], forms: Forms) -> Option<Value> {
    const DIMENSIONS_MAX: i32 = 6;
    let mut reader = Reader(bytes);
    let dimensions = reader.i32()?;
    let (_nulls, _element_oid) = (reader.i32()?, reader.i32()?);
    if dimensions == 0 {
        return Some(Value::Array(Vec::new()));
    }
    if !(1..=DIMENSIONS_MAX).contains(&dimensions) {
        return None;
    }
    let mut lengths = Vec::new();
    for _ in 0..dimensions {
        lengths.push(usize::try_from(reader.i32()?).ok()?);
        let _lower_bound = reader.i32()?;
    }
    nested(element, &lengths, &mut reader, forms)
}

fn nested(element: &PgTypeInfo, lengths: &[usize], reader: &mut Reader<'_>, forms: Forms) -> Option<Value> {
    let Some((length, inner)) = lengths.split_first() else {
        let size = reader.i32()?;
        return match usize::try_from(size) {
            Ok(size) => decode(element, reader.take(size)?, forms),
            Err(_) => Some(Value::Null),
        };
    };
    (0..*length).map(|_| nested(element, inner, reader, forms)).collect::<Option<Vec<_>>>().map(Value::Array)
}

struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn take(&mut self, size: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(size)?;
        self.0 = rest;
        Some(taken)
    }

    fn i32(&mut self) -> Option<i32> {
        self.take(4)?.try_into().ok().map(i32::from_be_bytes)
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2)?.try_into().ok().map(u16::from_be_bytes)
    }
}

/// Groups of four decimal digits, the weight of the first, the sign, the digits to show.
fn numeric(bytes: &[u8]) -> Option<String> {
    let mut reader = Reader(bytes);
    let (count, weight, sign, scale) = (reader.u16()?, reader.u16()?, reader.u16()?, reader.u16()?);
    match sign {
        0xC000 => return Some("NaN".to_owned()),
        0xD000 => return Some("Infinity".to_owned()),
        0xF000 => return Some("-Infinity".to_owned()),
        _ => {}
    }
    let groups: Vec<u16> = (0..count).map(|_| reader.u16()).collect::<Option<_>>()?;
    let weight = i64::from(i16::from_be_bytes(weight.to_be_bytes()));
    let group =
        |place: i64| usize::try_from(weight - place).ok().and_then(|index| groups.get(index)).copied();
    let mut whole = String::new();
    for place in (0..=weight).rev() {
        whole.push_str(&format!("{:04}", group(place).unwrap_or(0)));
    }
    let whole = whole.trim_start_matches('0');
    let mut fraction = String::new();
    let mut place = -1;
    while fraction.len() < usize::from(scale) {
        fraction.push_str(&format!("{:04}", group(place).unwrap_or(0)));
        place -= 1;
    }
    fraction.truncate(scale.into());
    let sign = if sign == 0x4000 { "-" } else { "" };
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") })
}

fn infinite(number: i64, least: i64, most: i64) -> Option<Value> {
    if number == most {
        Some(Value::from("infinity"))
    } else if number == least {
        Some(Value::from("-infinity"))
    } else {
        None
    }
}

fn date(days: i64) -> Option<Value> {
    if let Some(infinite) = infinite(days, i32::MIN.into(), i32::MAX.into()) {
        return Some(infinite);
    }
    let date = jiff::civil::date(2000, 1, 1).checked_add(jiff::Span::new().try_days(days).ok()?).ok()?;
    Some(Value::String(date.to_string()))
}

fn timestamp(micros: i64, with_zone: bool) -> Option<Value> {
    if let Some(infinite) = infinite(micros, i64::MIN, i64::MAX) {
        return Some(infinite);
    }
    let since = jiff::SignedDuration::from_micros(micros);
    let time = jiff::civil::date(2000, 1, 1).at(0, 0, 0, 0).checked_add(since).ok()?;
    // No instant of a time zone, which could not be in the last two days of 9999.
    Some(Value::String(format!("{time}{}", if with_zone { "Z" } else { "" })))
}

/// `10:00:00.5`; 24:00:00 is a time PostgreSQL has.
fn clock(micros: i64) -> String {
    let micros = micros.clamp(0, DAY_MICROS).unsigned_abs();
    let seconds = micros / 1_000_000;
    let whole = format!("{:02}:{:02}:{:02}", seconds / 3_600, seconds / 60 % 60, seconds % 60);
    format!("{whole}{}", fraction(micros % 1_000_000))
}

/// The zone comes as seconds west of UTC.
fn clock_with_offset(bytes: &[u8]) -> Option<String> {
    let (time, zone) = bytes.split_at_checked(8)?;
    let east = -i32::from_be_bytes(zone.try_into().ok()?);
    let sign = if east < 0 { '-' } else { '+' };
    let minutes = east.abs() / 60;
    Some(format!("{}{sign}{:02}:{:02}", clock(big_i64(time)?), minutes / 60, minutes % 60))
}

/// The three parts of an interval, none of which has a fixed length in another.
struct Span {
    micros: i64,
    days: i32,
    months: i32,
}

impl Span {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (time, rest) = bytes.split_at_checked(8)?;
        let (days, months) = rest.split_at_checked(4)?;
        let micros = big_i64(time)?;
        let days = i32::from_be_bytes(days.try_into().ok()?);
        let months = i32::from_be_bytes(months.try_into().ok()?);
        Some(Self { micros, days, months })
    }
}

/// `None` for months as seconds.
fn interval(span: Span, intervals: Intervals) -> Option<Value> {
    match intervals {
        Intervals::Iso => Some(Value::String(iso(span))),
        Intervals::Seconds if span.months == 0 => {
            seconds(i128::from(span.days) * i128::from(DAY_MICROS) + i128::from(span.micros))
        }
        Intervals::Seconds => None,
    }
}

/// ISO 8601, with each part that is not zero: `P1Y2M3DT4H5M6.5S`.
fn iso(Span { micros, days, months }: Span) -> String {
    let part = |number: i64, unit: &str| if number == 0 { String::new() } else { format!("{number}{unit}") };
    let date =
        [part((months / 12).into(), "Y"), part((months % 12).into(), "M"), part(days.into(), "D")].concat();
    let hours_minutes = [part(micros / 3_600_000_000, "H"), part(micros / 60_000_000 % 60, "M")].concat();
    let rest = micros % 60_000_000;
    let seconds = if rest == 0 {
        String::new()
    } else {
        let sign = if rest < 0 { "-" } else { "" };
        let size = rest.unsigned_abs();
        format!("{sign}{}{}S", size / 1_000_000, fraction(size % 1_000_000))
    };
    let time = format!("{hours_minutes}{seconds}");
    match (date.is_empty(), time.is_empty()) {
        (true, true) => "PT0S".to_owned(),
        (_, true) => format!("P{date}"),
        _ => format!("P{date}T{time}"),
    }
}

/// Family, prefix length, whether a network, address length, address.
fn inet(type_name: &str, bytes: &[u8]) -> Option<String> {
    let [_family, prefix, _is_cidr, length, address @ ..] = bytes else { return None };
    let (address, whole): (std::net::IpAddr, u8) = match length {
        4 => (<[u8; 4]>::try_from(address).ok()?.into(), 32),
        16 => (<[u8; 16]>::try_from(address).ok()?.into(), 128),
        _ => return None,
    };
    Some(if *prefix == whole && type_name == "INET" {
        address.to_string()
    } else {
        format!("{address}/{prefix}")
    })
}

/// The number of bits, then the bits.
fn bits(bytes: &[u8]) -> Option<String> {
    let mut reader = Reader(bytes);
    let count = usize::try_from(reader.i32()?).ok()?;
    let digits = reader.0.iter().flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    Some(digits.take(count).map(|bit| if bit == 1 { '1' } else { '0' }).collect())
}
