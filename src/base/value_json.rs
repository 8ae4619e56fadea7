//! The two JSON forms of a [`Value`].
//!
//! *Plain* is what users read and write. Bytes that are not UTF-8 are `{"$bytes": "<base64>"}`
//! (RFC 4648, padded); exactly that object, with base64 that decodes to bytes which are not valid
//! UTF-8, reads back as bytes, and every other object stays an object, so each JSON document
//! survives the round trip. A failure is `{"error","code","retryable",…}` and reads back as an
//! ordinary object.
//!
//! *Exact* is the journal's form: the same, but a failure is `{"$failure": {…}}` and reads
//! back as a failure.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use indexmap::IndexMap;
use serde_json::{Map, Number, Value as Json};

use super::{Error, ErrorCode, Result, ToolFailure, Value};

pub(super) const BYTES_KEY: &str = "$bytes";
const FAILURE_KEY: &str = "$failure";

impl Value {
    /// Reads the plain form.
    ///
    /// # Errors
    /// `value_integer_out_of_range` for integers beyond 64 signed bits.
    pub fn from_json(json: Json) -> Result<Self> {
        read(json, false)
    }

    /// Writes the plain form.
    #[must_use]
    pub fn to_json(&self) -> Json {
        write(self, false)
    }

    /// Reads the exact form.
    ///
    /// # Errors
    /// As [`Value::from_json`].
    pub fn from_exact_json(json: Json) -> Result<Self> {
        read(json, true)
    }

    /// Writes the exact form.
    #[must_use]
    pub fn to_exact_json(&self) -> Json {
        write(self, true)
    }
}

fn read(json: Json, exact: bool) -> Result<Value> {
    Ok(match json {
        Json::Null => Value::Null,
        Json::Bool(value) => Value::Bool(value),
        Json::Number(number) => read_number(&number)?,
        Json::String(text) => Value::String(text),
        Json::Array(items) => {
            Value::Array(items.into_iter().map(|item| read(item, exact)).collect::<Result<_>>()?)
        }
        Json::Object(members) => {
            if let Some(bytes) = read_bytes(&members) {
                return Ok(bytes);
            }
            if exact && let Some(failure) = read_failure(&members)? {
                return Ok(failure);
            }
            let mut object = IndexMap::with_capacity(members.len());
            for (name, value) in members {
                object.insert(name, read(value, exact)?);
            }
            Value::Object(object)
        }
    })
}

fn read_number(number: &Number) -> Result<Value> {
    if let Some(integer) = number.as_i64() {
        return Ok(Value::Integer(integer));
    }
    if number.is_u64() {
        return Err(out_of_range(&number.to_string()).with_limit(i64::MAX, number.clone()));
    }
    Ok(Value::Float(number.as_f64().unwrap_or_default()))
}

pub(super) fn out_of_range(integer: &str) -> Error {
    let message = format!("the integer {integer} does not fit 64 signed bits");
    Error::new(ErrorCode::ValueIntegerOutOfRange, message)
}

/// An integer in valid JSON that fits neither 64 signed nor unsigned bits: the reader would turn it
/// into a float, and with that into another number.
pub(super) fn wide_integer(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let at = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?;
        rest = &rest[at..];
        if let Some(string) = rest.strip_prefix('"') {
            let mut escaped = false;
            let end = string.find(|c| {
                let ends = c == '"' && !escaped;
                escaped = c == '\\' && !escaped;
                ends
            })?;
            rest = &string[end + 1..];
            continue;
        }
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.'));
        let (number, after) = rest.split_at(end.unwrap_or(rest.len()));
        let is_integer = !number.contains(['.', 'e', 'E']);
        if is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
            return Some(number);
        }
        rest = after;
    }
}

/// Reads only the canonical bytes object, so that no other document changes on a round trip.
fn read_bytes(members: &Map<String, Json>) -> Option<Value> {
    if members.len() != 1 {
        return None;
    }
    bytes_of(members.get(BYTES_KEY)?.as_str()?)
}

/// The bytes of a base64 text, where it is the canonical text of these bytes.
pub(super) fn bytes_of(text: &str) -> Option<Value> {
    let bytes = BASE64.decode(text).ok()?;
    let canonical = std::str::from_utf8(&bytes).is_err() && BASE64.encode(&bytes) == text;
    canonical.then(|| Value::Bytes(bytes.into()))
}

fn read_failure(members: &Map<String, Json>) -> Result<Option<Value>> {
    let (1, Some(Json::Object(failure))) = (members.len(), members.get(FAILURE_KEY)) else {
        return Ok(None);
    };
    let mut details = IndexMap::new();
    if let Some(Json::Object(members)) = failure.get("details") {
        for (name, value) in members {
            details.insert(name.clone(), read(value.clone(), true)?);
        }
    }
    let text = |name: &str| failure.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    Ok(Some(Value::Failure(Box::new(ToolFailure {
        code: text("code"),
        message: text("error"),
        retryable: failure.get("retryable").and_then(Json::as_bool).unwrap_or(false),
        details,
    }))))
}

fn write(value: &Value, exact: bool) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => Json::Bool(*value),
        Value::Integer(value) => Json::from(*value),
        // The type allows only finite numbers; null is JSON's form of the others.
        Value::Float(value) => Number::from_f64(*value).map_or(Json::Null, Json::Number),
        Value::String(text) => Json::String(text.clone()),
        Value::Bytes(bytes) => write_bytes(bytes),
        Value::Array(items) => Json::Array(items.iter().map(|item| write(item, exact)).collect()),
        Value::Object(members) => {
            Json::Object(members.iter().map(|(name, value)| (name.clone(), write(value, exact))).collect())
        }
        Value::Failure(failure) => write_failure(failure, exact),
    }
}

fn write_bytes(bytes: &[u8]) -> Json {
    match std::str::from_utf8(bytes) {
        Ok(text) => Json::String(text.to_owned()),
        Err(_) => Json::Object(Map::from_iter([(BYTES_KEY.to_owned(), Json::String(BASE64.encode(bytes)))])),
    }
}

fn write_failure(failure: &ToolFailure, exact: bool) -> Json {
    let mut object = Map::from_iter([
        ("error".to_owned(), Json::String(failure.message.clone())),
        ("code".to_owned(), Json::String(failure.code.clone())),
        ("retryable".to_owned(), Json::Bool(failure.retryable)),
    ]);
    let details = failure.details.iter().map(|(name, value)| (name.clone(), write(value, exact)));
    if !exact {
        for (name, value) in details {
            object.entry(name).or_insert(value);
        }
        return Json::Object(object);
    }
    object.insert("details".to_owned(), Json::Object(details.collect()));
    Json::Object(Map::from_iter([(FAILURE_KEY.to_owned(), Json::Object(object))]))
}
