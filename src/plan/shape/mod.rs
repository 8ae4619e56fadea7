//! The shape of a context: keys and types, never the data.
//!
//! One model gives the shape in the prompt ([`shape`]), what a call returned ([`kinds`()]) and the class that the check gives
//! the context (`class`).

mod class;
mod kinds;
mod text;

use indexmap::IndexMap;

use luaplan_base::Value;

/// An object with more keys than this is a map: its keys are data too.
const KEYS_MAX: usize = 40;
/// The most items of a list that are read.
const ITEMS_MAX: usize = 100;
/// Deeper parts are not read, whatever depth the caller asks for.
const DEPTH_MAX: usize = 8;
/// How deep [`kinds`] reads.
const KINDS_DEPTH: usize = 4;

#[derive(Debug, Clone, PartialEq)]
enum Shape {
    Plain(&'static str),
    List {
        items: Box<Option<Shape>>,
        count: usize,
    },
    Object {
        members: IndexMap<String, Member>,
    },
    Map {
        values: Box<Option<Shape>>,
        count: usize,
    },
    /// A part deeper than that, with its kind.
    Deep(&'static str),
    Either(Vec<Shape>),
}

#[derive(Debug, Clone, PartialEq)]
struct Member {
    shape: Shape,
    optional: bool,
}

/// Describes `value` down to `depth` levels as a type in LuaCATS's manner, with sizes.
///
/// Types of list items are merged, an item's missing key becomes optional, and an object with more
/// than 40 keys is shown as a map, as its keys are then data.
#[must_use]
pub fn shape(value: &Value, depth: usize) -> String {
    text::written(&of(value, depth.min(DEPTH_MAX)))
}

/// Names and kinds of `value` down to four levels, on one line: no value, no number of items, and no keys of a table whose
/// keys are not all names of fields.
#[must_use]
pub fn kinds(value: &Value) -> String {
    kinds::written(&of(value, KINDS_DEPTH))
}

/// The context as a class of the name `name` with a class for each object inside, as declarations;
/// nothing where it is no object or an empty one, which tells nothing.
///
/// Unread parts are `any`: those too deep, and the items of lists that are too long.
pub(super) fn class(value: &Value, name: &str) -> Option<String> {
    match of(value, DEPTH_MAX) {
        Shape::Object { members } if !members.is_empty() => Some(class::declared(&members, name)),
        _ => None,
    }
}

fn of(value: &Value, depth: usize) -> Shape {
    match value {
        Value::Null => Shape::Plain("nil"),
        Value::Bool(_) => Shape::Plain("boolean"),
        Value::Integer(_) => Shape::Plain("integer"),
        Value::Float(_) => Shape::Plain("number"),
        Value::String(_) => Shape::Plain("string"),
        Value::Bytes(_) => Shape::Plain("string (bytes)"),
        Value::Failure(_) => Shape::Plain("ToolError"),
        Value::Array(_) if depth == 0 => Shape::Deep("list"),
        Value::Object(_) if depth == 0 => Shape::Deep("table"),
        Value::Array(items) => Shape::List {
            items: Box::new(merged(items.iter().take(ITEMS_MAX), depth - 1)),
            count: items.len(),
        },
        Value::Object(members) if members.len() > KEYS_MAX => Shape::Map {
            values: Box::new(merged(members.values().take(ITEMS_MAX), depth - 1)),
            count: members.len(),
        },
        Value::Object(members) => Shape::Object {
            members: members
                .iter()
                .map(|(name, value)| (name.clone(), Member { shape: of(value, depth - 1), optional: false }))
                .collect(),
        },
    }
}

fn merged<'a>(values: impl Iterator<Item = &'a Value>, depth: usize) -> Option<Shape> {
    values.map(|value| of(value, depth)).reduce(merge)
}

fn merge(one: Shape, other: Shape) -> Shape {
    match (one, other) {
        (one, other) if one == other => one,
        (Shape::List { items: one, count }, Shape::List { items: other, count: more }) => {
            Shape::List { items: Box::new(merge_options(*one, *other)), count: count.max(more) }
        }
        (Shape::Map { values: one, count }, Shape::Map { values: other, count: more }) => {
            Shape::Map { values: Box::new(merge_options(*one, *other)), count: count.max(more) }
        }
        (Shape::Object { members: one }, Shape::Object { members: other }) => merge_objects(one, other),
        (Shape::Plain("integer"), Shape::Plain("number"))
        | (Shape::Plain("number"), Shape::Plain("integer")) => Shape::Plain("number"),
        (Shape::Either(mut shapes), other) => {
            let same_kind = |shape: &Shape| std::mem::discriminant(shape) == std::mem::discriminant(&other);
            let fit = shapes.iter().position(|shape| {
                *shape == other || (same_kind(shape) && !matches!(shape, Shape::Plain(_) | Shape::Deep(_)))
            });
            match fit {
                Some(index) => {
                    let shape = shapes.remove(index);
                    shapes.insert(index, merge(shape, other));
                }
                None => shapes.push(other),
            }
            Shape::Either(shapes)
        }
        (one, other) => Shape::Either(vec![one, other]),
    }
}

fn merge_options(one: Option<Shape>, other: Option<Shape>) -> Option<Shape> {
    match (one, other) {
        (Some(one), Some(other)) => Some(merge(one, other)),
        (one, other) => one.or(other),
    }
}

fn merge_objects(mut one: IndexMap<String, Member>, other: IndexMap<String, Member>) -> Shape {
    for (name, member) in &mut one {
        member.optional |= !other.contains_key(name);
    }
    for (name, member) in other {
        match one.get_mut(&name) {
            Some(known) => {
                let shape = std::mem::replace(&mut known.shape, Shape::Plain("nil"));
                known.shape = merge(shape, member.shape);
                known.optional |= member.optional;
            }
            None => {
                one.insert(name, Member { optional: true, ..member });
            }
        }
    }
    if one.len() <= KEYS_MAX {
        return Shape::Object { members: one };
    }
    let count = one.len();
    let values = one.into_values().map(|member| member.shape).reduce(merge);
    Shape::Map { values: Box::new(values), count }
}
