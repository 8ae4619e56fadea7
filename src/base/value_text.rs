//! The plain JSON form of a [`Value`] as text, without an intermediate document.
//!
//! The form of `value_json`, written and read directly: for large documents an intermediate one would be most of
//! the cost.

use std::cell::RefCell;
use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use indexmap::IndexMap;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::value_json::{BYTES_KEY, bytes_of, out_of_range, wide_integer};
use super::{Error, ErrorCode, Result, ToolFailure, Value};

impl Value {
    /// Reads the plain form from text.
    ///
    /// # Errors
    /// `bad_request` where the text is not JSON, `value_integer_out_of_range` for integers beyond 64
    /// signed bits.
    pub fn from_json_text(text: &str) -> Result<Self> {
        let beyond = RefCell::new(None);
        let mut reader = serde_json::Deserializer::from_str(text);
        let read = Reading { beyond: &beyond }
            .deserialize(&mut reader)
            .and_then(|value| reader.end().map(|()| value));
        if let Some(integer) = beyond.take() {
            return Err(out_of_range(&integer.to_string()).with_limit(i64::MAX, integer));
        }
        let value =
            read.map_err(|error| Error::new(ErrorCode::BadRequest, format!("not valid JSON: {error}")))?;
        match wide_integer(text) {
            Some(integer) => Err(out_of_range(integer)),
            None => Ok(value),
        }
    }

    /// Writes the plain form as text, without spaces.
    #[must_use]
    pub fn to_json_text(&self) -> String {
        // Writing to memory fails only where a value refuses to be written, and none here does.
        serde_json::to_string(&Plain(self)).unwrap_or_default()
    }

    /// Writes the plain form as text to `to`: without spaces, or, where `indent` is not 0, one member or
    /// item a line, each level indented by so many spaces.
    ///
    /// # Errors
    /// Those of `to`.
    pub fn write_json_text(&self, to: &mut impl std::io::Write, indent: usize) -> std::io::Result<()> {
        if indent == 0 {
            return Ok(serde_json::to_writer(to, &Plain(self))?);
        }
        let spaces = " ".repeat(indent);
        let formatter = serde_json::ser::PrettyFormatter::with_indent(spaces.as_bytes());
        Ok(Plain(self).serialize(&mut serde_json::Serializer::with_formatter(to, formatter))?)
    }
}

/// A value in its plain form, for serde.
struct Plain<'a>(&'a Value);

impl Serialize for Plain<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0 {
            Value::Null => to.serialize_unit(),
            Value::Bool(value) => to.serialize_bool(*value),
            Value::Integer(value) => to.serialize_i64(*value),
            // The type allows only finite numbers; the writer has null for the others.
            Value::Float(value) => to.serialize_f64(*value),
            Value::String(text) => to.serialize_str(text),
            Value::Bytes(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => to.serialize_str(text),
                Err(_) => {
                    let mut map = to.serialize_map(Some(1))?;
                    map.serialize_entry(BYTES_KEY, &BASE64.encode(bytes))?;
                    map.end()
                }
            },
            Value::Array(items) => to.collect_seq(items.iter().map(Plain)),
            Value::Object(members) => {
                to.collect_map(members.iter().map(|(name, value)| (name, Plain(value))))
            }
            Value::Failure(failure) => write_failure(failure, to),
        }
    }
}

fn write_failure<S: Serializer>(failure: &ToolFailure, to: S) -> std::result::Result<S::Ok, S::Error> {
    const OWN: [&str; 3] = ["error", "code", "retryable"];
    let mut map = to.serialize_map(None)?;
    map.serialize_entry(OWN[0], &failure.message)?;
    map.serialize_entry(OWN[1], &failure.code)?;
    map.serialize_entry(OWN[2], &failure.retryable)?;
    for (name, value) in &failure.details {
        if !OWN.contains(&name.as_str()) {
            map.serialize_entry(name, &Plain(value))?;
        }
    }
    map.end()
}

/// Reads one value; puts an integer that does not fit into `beyond`.
#[derive(Clone, Copy)]
struct Reading<'a> {
    beyond: &'a RefCell<Option<u64>>,
}

impl<'de> DeserializeSeed<'de> for Reading<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> std::result::Result<Value, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reading<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> std::result::Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> std::result::Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> std::result::Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> std::result::Result<Value, E> {
        i64::try_from(value).map(Value::Integer).map_err(|_| {
            self.beyond.replace(Some(value));
            E::custom("an integer beyond 64 signed bits")
        })
    }

    fn visit_f64<E>(self, value: f64) -> std::result::Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> std::result::Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E>(self, text: String) -> std::result::Result<Value, E> {
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> std::result::Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = from.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> std::result::Result<Value, A::Error> {
        let mut members = IndexMap::new();
        while let Some(name) = from.next_key::<String>()? {
            let value = from.next_value_seed(self)?;
            members.insert(name, value);
        }
        if members.len() == 1
            && let Some(Value::String(text)) = members.get(BYTES_KEY)
            && let Some(bytes) = bytes_of(text)
        {
            return Ok(bytes);
        }
        Ok(Value::Object(members))
    }
}
