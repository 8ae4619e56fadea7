//! The data that moves between plan, tools and journal.

use bytes::Bytes;
use indexmap::IndexMap;

use super::ToolFailure;

/// A document: a context, an argument or a result.
///
/// To a plan text and bytes are both Lua strings; here they are separate kinds, so that text stays
/// readable. [`Value::from_lua_bytes`] is the rule: valid UTF-8 is text.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum Value {
    /// JSON null, SQL NULL.
    #[default]
    Null,
    /// true or false.
    Bool(bool),
    /// A 64-bit signed integer.
    Integer(i64),
    /// A finite double. Never NaN or infinite: conversion refuses those.
    Float(f64),
    /// Text.
    String(String),
    /// Bytes that are not valid UTF-8.
    Bytes(Bytes),
    /// A list.
    Array(Vec<Value>),
    /// Named values in insertion order.
    Object(IndexMap<String, Value>),
    /// A failed part of a result, for example one URL of a batch. Plans see it as they see any
    /// failed call.
    Failure(Box<ToolFailure>),
}

impl Value {
    /// A Lua string as a value: text where it is valid UTF-8, bytes where it is not.
    #[must_use]
    pub fn from_lua_bytes(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        match std::str::from_utf8(&bytes) {
            Ok(text) => Self::String(text.to_owned()),
            Err(_) => Self::Bytes(bytes),
        }
    }

    /// The member `name` of an object.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Object(members) => members.get(name),
            _ => None,
        }
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The bytes of a string, text or not.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::String(text) => Some(text.as_bytes()),
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    /// The items of a list.
    #[must_use]
    pub fn as_array(&self) -> Option<&[Value]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members of an object.
    #[must_use]
    pub fn as_object(&self) -> Option<&IndexMap<String, Value>> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The kind of the value, in JSON's terms (`bytes` and `failure` are ours).
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Integer(_) => "integer",
            Self::Float(_) => "number",
            Self::String(_) => "string",
            Self::Bytes(_) => "bytes",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
            Self::Failure(_) => "failure",
        }
    }

    /// A cheap measure of size: string and key bytes plus eight for every node.
    #[must_use]
    pub fn approximate_bytes(&self) -> u64 {
        const NODE_BYTES: u64 = 8;
        NODE_BYTES
            + match self {
                Self::Null | Self::Bool(_) | Self::Integer(_) | Self::Float(_) => 0,
                Self::String(text) => text.len() as u64,
                Self::Bytes(bytes) => bytes.len() as u64,
                Self::Array(items) => items.iter().map(Self::approximate_bytes).sum(),
                Self::Object(members) => {
                    members.iter().map(|(name, value)| name.len() as u64 + value.approximate_bytes()).sum()
                }
                Self::Failure(failure) => failure.message.len() as u64,
            }
    }
}

impl From<bool> for Value {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<i64> for Value {
    fn from(value: i64) -> Self {
        Self::Integer(value)
    }
}

impl From<&str> for Value {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<String> for Value {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Self {
        Self::Array(items)
    }
}

impl<K: Into<String>, V: Into<Value>> FromIterator<(K, V)> for Value {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(members: I) -> Self {
        Self::Object(members.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}
