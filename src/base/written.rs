//! Sizes and durations as configuration writes them, for `#[serde(deserialize_with = "…")]`.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use super::{parse_bytes, parse_duration};

#[derive(Deserialize)]
#[serde(untagged)]
enum NumberOrText {
    Number(u64),
    Text(String),
}

/// A size in bytes: a number, or text such as `64KiB`.
///
/// # Errors
/// The deserializer's, with [`parse_bytes`]'s message.
pub fn bytes<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    match NumberOrText::deserialize(deserializer)? {
        NumberOrText::Number(number) => Ok(number),
        NumberOrText::Text(text) => parse_bytes(&text).map_err(|error| D::Error::custom(error.message())),
    }
}

/// A size in bytes, as the text it was or could have been written as.
///
/// # Errors
/// The deserializer's.
pub fn bytes_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match NumberOrText::deserialize(deserializer)? {
        NumberOrText::Number(number) => number.to_string(),
        NumberOrText::Text(text) => text,
    })
}

/// A duration as text such as `250ms`, `2s` or `1h30m`.
///
/// # Errors
/// The deserializer's, with [`parse_duration`]'s message.
pub fn duration<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let text = String::deserialize(deserializer)?;
    parse_duration(&text).map_err(|error| D::Error::custom(error.message()))
}
