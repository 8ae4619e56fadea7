//! What an argument may be, as values: the plan's own constants, and tables of them.

use indexmap::IndexMap;

use luaplan_base::Value;

use super::solver::Solver;
use super::state::{Key, Node, ObjectId, ObjectKind};
use super::value::{Cell, Constant, NIL, NULL};

/// Tables inside tables that are looked into.
const DEPTH_MAX: u32 = 4;
/// The most entries of a table that is made a value.
const ENTRIES_MAX: usize = 200;

/// One of the values that an argument may have.
#[derive(Debug, Clone, PartialEq)]
pub enum Possible {
    /// Exactly this one; null where it is nil. What may be nil as well is not told.
    Whole(Value),
    /// A table of exactly these entries, where null stands for any value that is not known.
    Partly(Value),
    /// A list that holds some of these, and may hold others.
    Among(Vec<Value>),
    /// A text with this beginning, and something behind it.
    Begins(String),
    /// Any.
    Anything,
}

impl Possible {
    fn into_entry(self) -> (Value, bool) {
        match self {
            Self::Whole(value) => (value, true),
            Self::Partly(value) => (value, false),
            Self::Among(_) | Self::Begins(_) | Self::Anything => (Value::Null, false),
        }
    }
}

/// Every value of a cell, in the order in which they were found; never empty.
pub(super) fn possible(solver: &Solver<'_>, cell: &Cell) -> Vec<Possible> {
    possible_at(solver, cell, 0)
}

fn possible_at(solver: &Solver<'_>, cell: &Cell, depth: u32) -> Vec<Possible> {
    let mut found: Vec<Possible> = cell.known().map(of_constant).collect();
    if cell.unknown & !(NIL | NULL) != 0 {
        found.push(Possible::Anything);
    }
    found.extend(cell.objects.iter().map(|object| of_object(solver, *object, depth)));
    if found.is_empty() {
        // Whatever is read from a table may be nil to the analysis: it is told where it can be nothing else.
        found.push(Possible::Whole(Value::Null));
    }
    found
}

fn of_constant(constant: &Constant) -> Possible {
    match constant {
        Constant::Bool(value) => Possible::Whole(Value::Bool(*value)),
        Constant::Int(value) => Possible::Whole(Value::Integer(*value)),
        Constant::Float(value) if value.is_finite() => Possible::Whole(Value::Float(*value)),
        Constant::Float(_) => Possible::Anything,
        Constant::Text(text) => Possible::Whole(Value::String(text.to_string())),
        Constant::Begins(text) => Possible::Begins(text.to_string()),
    }
}

fn of_object(solver: &Solver<'_>, object: ObjectId, depth: u32) -> Possible {
    let data = solver.get(object);
    let is_empty = |node: Node| {
        let cell = solver.peek(node);
        cell.constants.is_empty() && cell.unknown == 0 && cell.objects.is_empty()
    };
    let is_plain = matches!(data.kind, ObjectKind::Table(..))
        && [data.unknown, data.metatable].into_iter().all(is_empty);
    if !is_plain || depth >= DEPTH_MAX || data.fields.len() > ENTRIES_MAX {
        return Possible::Anything;
    }
    if !is_empty(data.items) {
        let places = data.fields.values().chain([&data.items]);
        let values = places.flat_map(|node| possible_at(solver, solver.peek(*node), depth + 1));
        let known = values.filter_map(|value| match value {
            Possible::Whole(value) if value != Value::Null => Some(value),
            _ => None,
        });
        return Possible::Among(known.collect());
    }
    let (mut items, mut members, mut is_whole) = (Vec::new(), IndexMap::new(), true);
    // Integers stand before texts, in their order.
    for (key, node) in data.fields.iter().filter(|(_, node)| !is_empty(**node)) {
        let mut values = possible_at(solver, solver.peek(*node), depth + 1);
        let (value, is_entry_whole) = match values.pop() {
            Some(only) if values.is_empty() => only.into_entry(),
            _ => (Value::Null, false),
        };
        is_whole &= is_entry_whole;
        match key {
            Key::Int(place) if i64::try_from(items.len() + 1) == Ok(*place) => {
                if is_entry_whole && value == Value::Null {
                    // A list ends at nil, or has a hole.
                    return Possible::Anything;
                }
                items.push(value);
            }
            Key::Int(_) => return Possible::Anything,
            Key::Text(_) if is_entry_whole && value == Value::Null => {}
            Key::Text(name) => _ = members.insert(name.to_string(), value),
        }
    }
    let value = match (items.is_empty(), members.is_empty()) {
        (_, true) => Value::Array(items),
        (true, false) => Value::Object(members),
        (false, false) => return Possible::Anything,
    };
    if is_whole { Possible::Whole(value) } else { Possible::Partly(value) }
}
