//! Parts of a JSON document that is too large for one answer, and how each is read on from.
//!
//! A value above its share of the answer is replaced by `{"shortened": true, "type", "bytes", "items"?, "shape"?,
//! "head", "read_on"}`. The paths of what was replaced stand in the answer's own `shortened`, so that data of the same
//! form is never taken for it. A page gives a value's items, members or text from an offset on.

use std::io;

use serde_json::{Map, Value as Json};

use luaplan_base::{Error, ErrorCode, Result, Value};
use luaplan_plan::shape;

/// No answer may be bounded below this: it has to hold the members of a run and one part of each of them.
pub const ANSWER_BYTES_MIN: u64 = 16 * 1024;

/// A part with everything that is said of it, however little of the value it shows.
const PART_BYTES_MIN: usize = 1536;

/// What a page says beside the part itself.
const PAGE_BYTES: usize = 1024;

/// A member whose path is longer is not read by its name: the JSON text of what holds it is read instead.
const PATH_BYTES_MAX: usize = 256;

/// A path that leads anywhere is far shorter.
const POINTER_BYTES_MAX: usize = 4 * 1024;

/// So many members are named where a path leads nowhere.
const NAMED_MAX: usize = 20;

/// The most that is said of a value's shape, and how deep.
const SHAPE_BYTES_MAX: usize = 1024;
const SHAPE_DEPTH: usize = 3;

/// Says how to read on at a path from an offset; null where there is no way.
pub type ReadOn<'r> = dyn Fn(&str, usize) -> Json + Sync + 'r;

/// An answer of at most about `bytes_max` bytes, which is `answer` where that is short enough.
#[must_use]
pub fn shortened(answer: Json, bytes_max: usize, read_on: &ReadOn<'_>) -> Json {
    if json_bytes(&answer) <= bytes_max {
        return answer;
    }
    let mut parts = Parts { read_on, shortened: Vec::new() };
    let mut short = parts.fit(&answer, "", bytes_max.saturating_sub(PAGE_BYTES));
    if let Some(members) = short.as_object_mut() {
        members.entry("shortened").or_insert_with(|| parts.shortened.into());
    }
    short
}

/// The part of `document` at `path`, a JSON pointer (RFC 6901), from `offset` on: see `page`.
///
/// # Errors
/// `not_found` for a path that leads nowhere; `bad_request` for a path or an offset that cannot be.
pub fn part_at(
    document: &Json,
    path: &str,
    offset: usize,
    bytes_max: usize,
    read_on: &ReadOn<'_>,
) -> Result<Json> {
    check_path(path)?;
    let Some(value) = document.pointer(path) else {
        let known: Vec<&str> = document
            .as_object()
            .into_iter()
            .flat_map(Map::keys)
            .map(String::as_str)
            .take(NAMED_MAX)
            .collect();
        return Err(Error::new(ErrorCode::NotFound, format!("there is nothing at `{path}`"))
            .with_help(format!("at the top there is {}", known.join(", "))));
    };
    page(value, path, offset, bytes_max, read_on)
}

/// Whether a text can be a path.
pub(crate) fn check_path(path: &str) -> Result<()> {
    if path.len() <= POINTER_BYTES_MAX && (path.is_empty() || path.starts_with('/')) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::BadRequest, "`path` is no JSON pointer, or too long")
        .with_limit(POINTER_BYTES_MAX as u64, path.len() as u64)
        .with_help("write it as the answer's `read_on` does, for example `/result/rows`"))
}

/// What a value has from `offset` on, as far as an answer of `bytes_max` bytes holds it:
/// `{"path", "type", "bytes", "items"?, "offset", "part", "next", "shortened"?}`.
///
/// # Errors
/// `bad_request` for an offset beyond the value's end, or inside a character.
fn page(value: &Json, path: &str, offset: usize, bytes_max: usize, read_on: &ReadOn<'_>) -> Result<Json> {
    let mut parts = Parts { read_on, shortened: Vec::new() };
    let room = bytes_max.saturating_sub(PAGE_BYTES + json_bytes(&path)).max(PART_BYTES_MIN);
    let window = parts.window(value, path, offset, room)?;
    let mut page = Map::new();
    page.insert("path".into(), path.into());
    window.describe(&mut page);
    page.insert("offset".into(), offset.into());
    page.insert("part".into(), window.part);
    page.insert("next".into(), window.next.into());
    if !parts.shortened.is_empty() {
        page.insert("shortened".into(), parts.shortened.into());
    }
    Ok(Json::Object(page))
}

/// Bytes of a value's JSON.
pub(crate) fn json_bytes<T: serde::Serialize + ?Sized>(value: &T) -> usize {
    struct Counter(usize);
    impl io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter(0);
    // Neither counting nor JSON values fail.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// What an offset into a value counts.
#[derive(Clone, Copy)]
enum Unit {
    Items,
    Members,
    /// Bytes of a text.
    Text,
    /// Bytes of the JSON of an object that has a name too long for a path.
    JsonText,
    /// The value is one piece.
    Whole,
}

/// What a value shows of itself.
struct Window {
    unit: Unit,
    bytes: usize,
    count: usize,
    part: Json,
    next: Option<usize>,
}

impl Window {
    fn describe(&self, members: &mut Map<String, Json>) {
        let (kind, count) = match self.unit {
            Unit::Items => ("array", Some("items")),
            Unit::Members => ("object", Some("members")),
            Unit::Text => ("string", None),
            Unit::JsonText => ("json", None),
            Unit::Whole => ("value", None),
        };
        members.insert("type".into(), kind.into());
        members.insert("bytes".into(), self.bytes.into());
        if let Some(name) = count {
            members.insert(name.into(), self.count.into());
        }
    }
}

struct Parts<'r> {
    read_on: &'r ReadOn<'r>,
    shortened: Vec<String>,
}

impl Parts<'_> {
    /// The value in at most `room` bytes.
    fn fit(&mut self, value: &Json, path: &str, room: usize) -> Json {
        if json_bytes(value) <= room {
            return value.clone();
        }
        if let (Json::Object(members), Unit::Members) = (value, unit_of(value, path))
            && let Some(shares) = shares(members, room)
        {
            let fitted = members
                .iter()
                .zip(shares)
                .map(|((name, member), share)| (name.clone(), self.fit(member, &child(path, name), share)));
            return Json::Object(fitted.collect());
        }
        self.part(value, path, room)
    }

    /// The value's head, with what it is and how to read on.
    fn part(&mut self, value: &Json, path: &str, room: usize) -> Json {
        const NAMES_BYTES: usize = 160;
        let shape = shape_of(value).filter(|_| room >= 4 * SHAPE_BYTES_MAX);
        let said = json_bytes(&(self.read_on)(path, usize::MAX)) + json_bytes(path) + json_bytes(&shape);
        self.shortened.push(path.to_owned());
        // From the beginning every value has a part.
        let Ok(window) = self.window(value, path, 0, room.saturating_sub(NAMES_BYTES + said)) else {
            return Json::Null;
        };
        let mut part = Map::new();
        part.insert("shortened".into(), true.into());
        window.describe(&mut part);
        if let Some(shape) = shape {
            part.insert("shape".into(), shape.into());
        }
        part.insert("head".into(), window.part);
        part.insert("read_on".into(), window.next.map_or(Json::Null, |next| (self.read_on)(path, next)));
        Json::Object(part)
    }

    fn window(&mut self, value: &Json, path: &str, offset: usize, room: usize) -> Result<Window> {
        let unit = unit_of(value, path);
        // What takes more than half of the room is shortened; else a page ends before what does not fit.
        let long = room / 2;
        match (value, unit) {
            (Json::Array(items), Unit::Items) => {
                within(offset, items.len(), "items")?;
                let mut part = Vec::new();
                let mut left = room.saturating_sub(2);
                for (index, item) in items.iter().enumerate().skip(offset) {
                    let bytes = json_bytes(item) + 1;
                    let fitted = match bytes <= left {
                        true => item.clone(),
                        false if left >= long.max(PART_BYTES_MIN) => {
                            self.fit(item, &child(path, &index.to_string()), left)
                        }
                        false => break,
                    };
                    left = left.saturating_sub(bytes);
                    part.push(fitted);
                }
                let end = offset + part.len();
                let next = (end < items.len()).then_some(end);
                Ok(Window { unit, bytes: json_bytes(value), count: items.len(), part: part.into(), next })
            }
            (Json::Object(members), Unit::Members) => {
                within(offset, members.len(), "members")?;
                let mut part = Map::new();
                let mut left = room.saturating_sub(2);
                for (name, member) in members.iter().skip(offset) {
                    let (name_bytes, bytes) = (json_bytes(name) + 2, json_bytes(member));
                    let fitted = match name_bytes + bytes <= left {
                        true => member.clone(),
                        false if left >= long.max(PART_BYTES_MIN + name_bytes) => {
                            self.fit(member, &child(path, name), left - name_bytes)
                        }
                        false => break,
                    };
                    left = left.saturating_sub(name_bytes + bytes);
                    part.insert(name.clone(), fitted);
                }
                let end = offset + part.len();
                let next = (end < members.len()).then_some(end);
                Ok(Window { unit, bytes: json_bytes(value), count: members.len(), part: part.into(), next })
            }
            (Json::String(text), _) => text_window(unit, text, offset, room),
            (_, Unit::JsonText) => text_window(unit, &value.to_string(), offset, room),
            _ => {
                within(offset, 0, "items")?;
                Ok(Window { unit, bytes: json_bytes(value), count: 1, part: value.clone(), next: None })
            }
        }
    }
}

fn text_window(unit: Unit, text: &str, offset: usize, room: usize) -> Result<Window> {
    within(offset, text.len(), "bytes")?;
    if !text.is_char_boundary(offset) {
        let message = format!("`offset` {offset} is inside a character");
        return Err(
            Error::new(ErrorCode::BadRequest, message).with_help("give the `next` of the page before")
        );
    }
    let end = text_end(text, offset, room.saturating_sub(2));
    let next = (end < text.len()).then_some(end);
    Ok(Window { unit, bytes: text.len(), count: text.len(), part: text[offset..end].into(), next })
}

/// Where a text that begins at `offset` has to end to be `room` bytes of JSON: behind one character at least.
fn text_end(text: &str, offset: usize, room: usize) -> usize {
    let mut used = 0;
    for (place, character) in text[offset..].char_indices() {
        used += match character {
            '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
            '\0'..='\u{1f}' => 6,
            other => other.len_utf8(),
        };
        if used > room && place > 0 {
            return offset + place;
        }
    }
    text.len()
}

fn within(offset: usize, length: usize, what: &str) -> Result<()> {
    if offset <= length {
        return Ok(());
    }
    Err(Error::new(ErrorCode::BadRequest, format!("`offset` is beyond the end of the value's {what}"))
        .with_limit(length as u64, offset as u64)
        .with_help("give the `next` of the page before, or leave `offset` out"))
}

fn unit_of(value: &Json, path: &str) -> Unit {
    let fits = |longest: usize| json_bytes(path) + longest < PATH_BYTES_MAX;
    const INDEX_BYTES: usize = 21;
    match value {
        Json::Array(_) if fits(INDEX_BYTES) => Unit::Items,
        Json::Object(members) if members.keys().all(|name| fits(json_bytes(&escaped(name)))) => Unit::Members,
        Json::Array(_) | Json::Object(_) => Unit::JsonText,
        Json::String(_) => Unit::Text,
        _ => Unit::Whole,
    }
}

/// The path of a member or an item (RFC 6901).
fn child(path: &str, name: &str) -> String {
    format!("{path}/{}", escaped(name))
}

fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// How many bytes each member of an object may have where the object stays; `None` where they would be too few for the
/// long ones to be parts. What short members leave is shared by the others.
fn shares(members: &Map<String, Json>, room: usize) -> Option<Vec<usize>> {
    let sizes: Vec<usize> = members.values().map(json_bytes).collect();
    let names: usize = members.keys().map(|name| json_bytes(name) + 2).sum();
    let mut left = room.checked_sub(names + 2)?;
    let mut ascending: Vec<usize> = sizes.clone();
    ascending.sort_unstable();
    let mut fair = left;
    for (index, size) in ascending.iter().enumerate() {
        fair = left / (ascending.len() - index);
        if *size > fair {
            break;
        }
        left -= size;
    }
    (fair >= PART_BYTES_MIN).then(|| sizes.into_iter().map(|size| size.min(fair)).collect())
}

/// Keys and types of a list or an object.
fn shape_of(value: &Json) -> Option<String> {
    if !value.is_array() && !value.is_object() {
        return None;
    }
    let mut text = shape(&Value::from_json(value.clone()).ok()?, SHAPE_DEPTH);
    if text.len() > SHAPE_BYTES_MAX / 2 {
        text.truncate(text.floor_char_boundary(SHAPE_BYTES_MAX / 2));
        text.push('…');
    }
    Some(text)
}

#[cfg(test)]
mod tests;
