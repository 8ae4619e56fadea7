//! Plausible texts and numbers for a name: what a column `city` or a member `due_on` may hold.
//!
//! No real person, and no address outside the example domains.

use jiff::civil::{Date, DateTime, date};
use serde_json::{Value as Json, json};

use super::draw::Draw;

/// With letters of several alphabets, so that a plan that counts bytes as letters fails.
const CITIES: [&str; 8] = ["Oslo", "Zürich", "São Paulo", "東京", "Kraków", "Αθήνα", "Nairobi", "Lima"];
const COUNTRIES: [&str; 6] = ["Norway", "Switzerland", "Brazil", "Japan", "Poland", "Kenya"];
const STATES: [&str; 4] = ["active", "pending", "done", "cancelled"];
const CURRENCIES: [&str; 4] = ["EUR", "USD", "JPY", "NOK"];
const WORDS: [&str; 16] = [
    "report",
    "order",
    "naïve",
    "green",
    "weekly",
    "crème",
    "total",
    "north",
    "Übersicht",
    "sample",
    "box",
    "данные",
    "first",
    "line",
    "數據",
    "open",
];

/// A text for `name`.
pub(super) fn text(name: &str, draw: &mut Draw) -> String {
    let name = name.to_ascii_lowercase();
    let has = |part: &str| name.contains(part);
    let is_word = |word: &str| name.split(['_', '-', '.']).any(|part| part == word);
    let number = draw.between(1, 99);
    if has("email") || is_word("mail") || is_word("to") {
        format!("user{number}@example.com")
    } else if has("url") || is_word("link") || is_word("href") {
        format!("https://example.com/page/{number}")
    } else if has("uuid") || has("guid") {
        uuid(draw)
    } else if is_word("id") || is_word("key") || is_word("code") || is_word("ref") {
        format!("{}-{number}", name.split('_').next().filter(|first| *first != "id").unwrap_or("item"))
    } else if name.ends_with("_at") || has("time") {
        moment(draw).to_string()
    } else if name.ends_with("_on") || has("date") || is_word("day") || is_word("due") {
        day(draw).to_string()
    } else if has("city") || has("town") {
        one_of(&CITIES, draw)
    } else if has("country") {
        one_of(&COUNTRIES, draw)
    } else if has("status") || is_word("state") {
        one_of(&STATES, draw)
    } else if has("currency") {
        one_of(&CURRENCIES, draw)
    } else if has("phone") {
        format!("+00 555 01{number:02}")
    } else if has("name") || is_word("user") || is_word("customer") {
        let kind = if has("customer") || has("company") { "Customer" } else { "User" };
        let mark = if draw.once_in(3) { " Ω" } else { "" };
        format!("{kind} {number}{mark}")
    } else {
        words(draw)
    }
}

/// One to five words.
pub(super) fn words(draw: &mut Draw) -> String {
    let count = 1 + draw.below(5);
    let drawn: Vec<String> = (0..count).map(|_| one_of(&WORDS, draw)).collect();
    drawn.join(" ")
}

/// A whole number for `name`.
pub(super) fn integer(name: &str, draw: &mut Draw) -> i64 {
    let name = name.to_ascii_lowercase();
    let has = |part: &str| name.contains(part);
    if has("age") && !has("page") {
        draw.between(18, 90)
    } else if has("year") {
        draw.between(2019, 2026)
    } else if has("bytes") || has("size") {
        draw.between(0, 100_000)
    } else if has("percent") {
        draw.between(0, 100)
    } else if has("count") || name == "n" || has("quantity") || has("qty") {
        draw.between(0, 20)
    } else {
        draw.between(1, 1000)
    }
}

/// A number with at most two decimals for `name`.
pub(super) fn number(name: &str, draw: &mut Draw) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "small by construction")]
    let decimal = |whole: i64| whole as f64 / 100.0;
    let name = name.to_ascii_lowercase();
    match name.contains("rate") || name.contains("ratio") || name.contains("score") {
        true => decimal(draw.between(0, 100)),
        false => decimal(draw.between(0, 250_000)),
    }
}

/// A text in one of JSON Schema's named formats; `None` for a format not known here.
pub(super) fn formatted(format: &str, draw: &mut Draw) -> Option<String> {
    let number = draw.between(1, 250);
    Some(match format {
        "date" => day(draw).to_string(),
        "date-time" => format!("{}Z", moment(draw)),
        "time" => format!("{}Z", moment(draw).time()),
        "duration" => format!("PT{number}S"),
        "email" | "idn-email" => format!("user{number}@example.com"),
        "hostname" | "idn-hostname" => format!("host{number}.example.com"),
        "ipv4" => format!("192.0.2.{number}"),
        "ipv6" => format!("2001:db8::{number:x}"),
        "uri" | "iri" | "url" => format!("https://example.com/page/{number}"),
        "uri-reference" | "iri-reference" => format!("/page/{number}"),
        "uuid" => uuid(draw),
        "json-pointer" => format!("/items/{number}"),
        _ => return None,
    })
}

/// A value for a member or column of which only the name is known.
pub(super) fn by_name(name: &str, draw: &mut Draw) -> Json {
    let lower = name.to_ascii_lowercase();
    let is_word = |words: &[&str]| lower.split(['_', '-', '.']).any(|part| words.contains(&part));
    if is_word(&["amount", "price", "total", "sum", "avg", "average", "rate", "score", "cost", "revenue"])
        || is_word(&["balance", "value", "mean", "share", "ratio", "spent", "paid"])
    {
        return json!(number(&lower, draw));
    }
    if is_word(&["is", "has", "active", "enabled", "deleted", "verified"]) {
        return json!(draw.once_in(2));
    }
    if is_word(&["id", "age", "count", "n", "qty", "quantity", "stock", "size", "bytes", "year", "number"])
        || is_word(&["orders", "visits", "min", "max", "position", "rank", "days", "hours", "minutes"])
    {
        return json!(integer(&lower, draw));
    }
    json!(text(&lower, draw))
}

fn one_of(items: &[&str], draw: &mut Draw) -> String {
    draw.pick(items).copied().unwrap_or_default().to_owned()
}

fn day(draw: &mut Draw) -> Date {
    let month = i8::try_from(draw.between(1, 12)).unwrap_or(1);
    let day = i8::try_from(draw.between(1, 28)).unwrap_or(1);
    date(i16::try_from(draw.between(2024, 2026)).unwrap_or(2026), month, day)
}

fn moment(draw: &mut Draw) -> DateTime {
    let hour = i8::try_from(draw.between(0, 23)).unwrap_or(0);
    let minute = i8::try_from(draw.between(0, 59)).unwrap_or(0);
    day(draw).at(hour, minute, 0, 0)
}

fn uuid(draw: &mut Draw) -> String {
    let mut drawn = || draw.between(0, 0xffff_ffff);
    let (first, second, third, fourth) = (drawn(), drawn(), drawn(), drawn());
    format!(
        "{first:08x}-{:04x}-4{:03x}-8{:03x}-{:04x}{fourth:08x}",
        second >> 16,
        second & 0xfff,
        third >> 20,
        third & 0xffff
    )
}
