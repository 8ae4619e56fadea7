//! A [`Value`] as bytes, exactly: kinds, bit patterns of floats, bytes, key order, failures.
//!
//! Each node is a tag and its data. Reading caps depth and number of nodes, so a compromised worker
//! cannot exhaust its host's stack or memory.

use std::cell::Cell;
use std::fmt;

use bytes::Bytes;
use indexmap::IndexMap;
use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{SerializeMap as _, SerializeSeq as _, SerializeTuple as _};
use serde::{Deserializer, Serialize, Serializer};

use luaplan_base::{ToolFailure, Value};

/// Deeper than any conversion goes, and shallow enough for every stack.
const DEPTH_MAX: u32 = 256;

/// Nodes of all values of one frame together.
pub(super) const NODES_MAX: u64 = 4_000_000;

thread_local! {
    // Decoding a frame is one synchronous call; passing this through every derived reader would
    // mean writing them all by hand.
    static NODES_LEFT: Cell<u64> = const { Cell::new(0) };
}

/// Allows the next frame its nodes.
pub(super) fn begin_frame() {
    NODES_LEFT.with(|left| left.set(NODES_MAX));
}

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
const INTEGER: u8 = 3;
const FLOAT: u8 = 4;
const STRING: u8 = 5;
const BYTES: u8 = 6;
const ARRAY: u8 = 7;
const OBJECT: u8 = 8;
const FAILURE: u8 = 9;

/// For `#[serde(serialize_with)]`.
pub(super) fn serialize<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    Node { value, depth: DEPTH_MAX }.serialize(serializer)
}

/// For `#[serde(deserialize_with)]`.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    NodeSeed(DEPTH_MAX).deserialize(deserializer)
}

/// A list of values, for the same two attributes.
pub(super) mod list {
    use super::{DEPTH_MAX, Deserializer, ItemsSeed, Serialize as _, Serializer, Value};
    use serde::de::DeserializeSeed as _;

    pub(crate) fn serialize<S: Serializer>(items: &[Value], serializer: S) -> Result<S::Ok, S::Error> {
        super::Items { items, depth: DEPTH_MAX }.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Value>, D::Error> {
        ItemsSeed(DEPTH_MAX).deserialize(deserializer)
    }
}

/// A failure, for the same two attributes.
pub(super) mod failure {
    use super::{DEPTH_MAX, Deserializer, FailureSeed, Serialize as _, Serializer, ToolFailure};
    use serde::de::DeserializeSeed as _;

    pub(crate) fn serialize<S: Serializer>(failure: &ToolFailure, serializer: S) -> Result<S::Ok, S::Error> {
        super::FailureNode { failure, depth: DEPTH_MAX }.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<ToolFailure, D::Error> {
        FailureSeed(DEPTH_MAX).deserialize(deserializer)
    }
}

fn deeper<E: serde::ser::Error>(depth: u32) -> Result<u32, E> {
    depth.checked_sub(1).ok_or_else(|| E::custom("a value is nested too deep to be sent"))
}

struct Node<'a> {
    value: &'a Value,
    depth: u32,
}

impl Serialize for Node<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn tagged<S: Serializer>(
            serializer: S,
            tag: u8,
            rest: &(impl Serialize + ?Sized),
        ) -> Result<S::Ok, S::Error> {
            let mut pair = serializer.serialize_tuple(2)?;
            pair.serialize_element(&tag)?;
            pair.serialize_element(rest)?;
            pair.end()
        }
        let depth = deeper::<S::Error>(self.depth)?;
        match self.value {
            Value::Null => serializer.serialize_u8(NULL),
            Value::Bool(false) => serializer.serialize_u8(FALSE),
            Value::Bool(true) => serializer.serialize_u8(TRUE),
            Value::Integer(number) => tagged(serializer, INTEGER, number),
            Value::Float(number) => tagged(serializer, FLOAT, &number.to_bits()),
            Value::String(text) => tagged(serializer, STRING, text),
            Value::Bytes(bytes) => tagged(serializer, BYTES, bytes),
            Value::Array(items) => tagged(serializer, ARRAY, &Items { items, depth }),
            Value::Object(members) => tagged(serializer, OBJECT, &Members { members, depth }),
            Value::Failure(failure) => tagged(serializer, FAILURE, &FailureNode { failure, depth }),
        }
    }
}

struct Items<'a> {
    items: &'a [Value],
    depth: u32,
}

impl Serialize for Items<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.items.len()))?;
        for value in self.items {
            list.serialize_element(&Node { value, depth: self.depth })?;
        }
        list.end()
    }
}

struct Members<'a> {
    members: &'a IndexMap<String, Value>,
    depth: u32,
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.members.len()))?;
        for (name, value) in self.members {
            map.serialize_entry(name, &Node { value, depth: self.depth })?;
        }
        map.end()
    }
}

struct FailureNode<'a> {
    failure: &'a ToolFailure,
    depth: u32,
}

impl Serialize for FailureNode<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ToolFailure { code, message, retryable, details } = self.failure;
        let mut tuple = serializer.serialize_tuple(4)?;
        tuple.serialize_element(code)?;
        tuple.serialize_element(message)?;
        tuple.serialize_element(retryable)?;
        tuple.serialize_element(&Members { members: details, depth: self.depth })?;
        tuple.end()
    }
}

struct NodeSeed(u32);

impl<'de> DeserializeSeed<'de> for NodeSeed {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        let left = NODES_LEFT.with(|left| left.replace(left.get().saturating_sub(1)));
        if left == 0 {
            return Err(D::Error::custom("the frame holds too many values"));
        }
        let depth = self.0.checked_sub(1).ok_or_else(|| D::Error::custom("a value is nested too deep"))?;
        deserializer.deserialize_tuple(2, NodeVisitor(depth))
    }
}

struct NodeVisitor(u32);

fn part<'de, A: SeqAccess<'de>, S: DeserializeSeed<'de>>(
    sequence: &mut A,
    seed: S,
) -> Result<S::Value, A::Error> {
    sequence.next_element_seed(seed)?.ok_or_else(|| A::Error::custom("a value is cut short"))
}

fn plain<'de, A: SeqAccess<'de>, T: serde::Deserialize<'de>>(sequence: &mut A) -> Result<T, A::Error> {
    part(sequence, std::marker::PhantomData)
}

impl<'de> Visitor<'de> for NodeVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a tagged value")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let depth = self.0;
        Ok(match plain::<A, u8>(&mut sequence)? {
            NULL => Value::Null,
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            INTEGER => Value::Integer(plain(&mut sequence)?),
            FLOAT => Value::Float(f64::from_bits(plain(&mut sequence)?)),
            STRING => Value::String(plain(&mut sequence)?),
            BYTES => Value::Bytes(plain::<A, Bytes>(&mut sequence)?),
            ARRAY => Value::Array(part(&mut sequence, ItemsSeed(depth))?),
            OBJECT => Value::Object(part(&mut sequence, MembersSeed(depth))?),
            FAILURE => Value::Failure(Box::new(part(&mut sequence, FailureSeed(depth))?)),
            other => return Err(A::Error::custom(format!("there is no kind of value {other}"))),
        })
    }
}

/// The most items allocated ahead by an announced length.
const AHEAD_MAX: usize = 1_024;

struct ItemsSeed(u32);

impl<'de> DeserializeSeed<'de> for ItemsSeed {
    type Value = Vec<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for ItemsSeed {
    type Value = Vec<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::with_capacity(sequence.size_hint().unwrap_or(0).min(AHEAD_MAX));
        while let Some(value) = sequence.next_element_seed(NodeSeed(self.0))? {
            items.push(value);
        }
        Ok(items)
    }
}

struct MembersSeed(u32);

impl<'de> DeserializeSeed<'de> for MembersSeed {
    type Value = IndexMap<String, Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for MembersSeed {
    type Value = IndexMap<String, Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("named values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members = IndexMap::with_capacity(map.size_hint().unwrap_or(0).min(AHEAD_MAX));
        while let Some(name) = map.next_key::<String>()? {
            members.insert(name, map.next_value_seed(NodeSeed(self.0))?);
        }
        Ok(members)
    }
}

struct FailureSeed(u32);

impl<'de> DeserializeSeed<'de> for FailureSeed {
    type Value = ToolFailure;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_tuple(4, self)
    }
}

impl<'de> Visitor<'de> for FailureSeed {
    type Value = ToolFailure;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a failure")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Self::Value, A::Error> {
        Ok(ToolFailure {
            code: plain(&mut sequence)?,
            message: plain(&mut sequence)?,
            retryable: plain(&mut sequence)?,
            details: part(&mut sequence, MembersSeed(self.0))?,
        })
    }
}
