//! JSON text → value, with its nodes counted while reading.
//!
//! Reading into a tree first would let two bytes of text take many times their size in the
//! host's memory before conversion could refuse it.

use std::cell::Cell;
use std::fmt;

use indexmap::IndexMap;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use luaplan_base::Value;

/// The most nodes a document may have, as in conversion.
const NODES_MAX: u32 = 1_000_000;

/// Reads a document.
///
/// # Errors
/// What is wrong with the text, and where.
pub(super) fn read(text: &str) -> Result<Value, String> {
    let nodes = Cell::new(0);
    let mut reader = serde_json::Deserializer::from_str(text);
    Node { nodes: &nodes }
        .deserialize(&mut reader)
        .and_then(|value| reader.end().map(|()| value))
        .map_err(|error| format!("not valid JSON: {error}"))
}

#[derive(Clone, Copy)]
struct Node<'n> {
    nodes: &'n Cell<u32>,
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, reader: D) -> Result<Value, D::Error> {
        let met = self.nodes.get() + 1;
        if met > NODES_MAX {
            return Err(D::Error::custom(format_args!("more than {NODES_MAX} nodes")));
        }
        self.nodes.set(met);
        reader.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Integer(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        i64::try_from(value)
            .map(Value::Integer)
            .map_err(|_| E::custom(format_args!("the integer {value} does not fit 64 signed bits")))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::Float(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(self)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = IndexMap::new();
        while let Some(name) = members.next_key::<String>()? {
            object.insert(name, members.next_value_seed(self)?);
        }
        // `Value` decides whether the object stands for bytes.
        if object.len() == 1 && object.values().all(|value| matches!(value, Value::String(_))) {
            return Value::from_json(Value::Object(object).to_json())
                .map_err(|error| A::Error::custom(error.message()));
        }
        Ok(Value::Object(object))
    }
}
