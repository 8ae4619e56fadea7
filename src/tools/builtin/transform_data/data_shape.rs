//! What is known of the data of a template before there are data.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use luaplan_base::Value;
use luaplan_bus::ForeseenCall;

/// Tables inside tables that are looked into.
const DEPTH_MAX: usize = 8;

/// The shape of a value.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DataShape {
    /// Any value.
    Any,
    /// A text, a number, a boolean or nothing.
    Plain,
    /// A list of these.
    List(Box<DataShape>),
    /// A table of exactly these keys.
    Record(BTreeMap<String, DataShape>),
    /// What `groupby` gives: a key, and a list of these.
    Group(Box<DataShape>),
}

impl DataShape {
    /// What is known of the argument `name`.
    pub(super) fn of_argument(call: &ForeseenCall, name: &str) -> Self {
        let by_type = call.shapes.get(name).map_or(Self::Any, |schema| Self::of_schema(schema, 0));
        match call.known.get(name) {
            Some(value) => by_type.and(Self::of_value(value, 0)),
            None => by_type,
        }
    }

    fn of_schema(schema: &Json, depth: usize) -> Self {
        let inner = |schema: &Json| Self::of_schema(schema, depth + 1);
        match schema.get("type").and_then(Json::as_str) {
            _ if depth > DEPTH_MAX => Self::Any,
            Some("string" | "number" | "integer" | "boolean") => Self::Plain,
            Some("array") => Self::List(Box::new(schema.get("items").map_or(Self::Any, inner))),
            Some("object") if schema.get("additionalProperties") == Some(&Json::Bool(false)) => {
                let members = schema.get("properties").and_then(Json::as_object).into_iter().flatten();
                Self::Record(members.map(|(name, schema)| (name.clone(), inner(schema))).collect())
            }
            _ => Self::Any,
        }
    }

    /// As null stands for what is not known, it says nothing.
    fn of_value(value: &Value, depth: usize) -> Self {
        let inner = |value: &Value| Self::of_value(value, depth + 1);
        match value {
            _ if depth > DEPTH_MAX => Self::Any,
            Value::Array(items) => {
                let item = items.iter().map(inner).reduce(Self::or);
                Self::List(Box::new(item.unwrap_or(Self::Any)))
            }
            Value::Object(members) => {
                Self::Record(members.iter().map(|(name, value)| (name.clone(), inner(value))).collect())
            }
            Value::Null | Value::Failure(_) => Self::Any,
            _ => Self::Plain,
        }
    }

    /// A value that is known to be both.
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Any, one) | (one, Self::Any) => one,
            (Self::List(one), Self::List(other)) => Self::List(Box::new(one.and(*other))),
            (Self::Record(one), Self::Record(other)) => Self::joined(one, other, Self::and),
            (one, other) if one == other => one,
            _ => Self::Any,
        }
    }

    /// A value that is one or the other. A key that one of them has may be there.
    pub(super) fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::List(one), Self::List(other)) => Self::List(Box::new(one.or(*other))),
            (Self::Record(one), Self::Record(other)) => Self::joined(one, other, Self::or),
            (one, other) if one == other => one,
            _ => Self::Any,
        }
    }

    fn joined(
        mut one: BTreeMap<String, Self>,
        other: BTreeMap<String, Self>,
        join: fn(Self, Self) -> Self,
    ) -> Self {
        for (name, shape) in other {
            let joined = match one.remove(&name) {
                Some(known) => join(known, shape),
                None => shape,
            };
            one.insert(name, joined);
        }
        Self::Record(one)
    }

    /// What a loop over it gives.
    pub(super) fn item(&self) -> Self {
        match self {
            Self::List(item) => (**item).clone(),
            // The keys of a table, the characters of a text.
            Self::Record(_) | Self::Plain => Self::Plain,
            Self::Any | Self::Group(_) => Self::Any,
        }
    }
}
