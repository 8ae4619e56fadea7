//! What a table from the host remembers: its kind, its keys in order, which of them were null.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use mlua::{Function, Lua, Table, WeakLua};

use super::held::Held;
use crate::base::Value;
use crate::sandbox::meter::Meter;

/// The kind and keys of a table that came from the host.
#[derive(Debug)]
pub(super) enum Shape {
    Array,
    /// Keys in order, with whether each was null.
    Object(Vec<(String, bool)>),
}

/// An object's shape with the metatable that stands for it.
type ShapedObject = (Arc<Shape>, Table);

/// The tables and functions of the prelude that make and keep strict error values.
pub(in crate::sandbox) struct FailureParts {
    /// The metatable every strict error value has.
    pub(in crate::sandbox) metatable: Table,
    /// From strict error value to its record.
    pub(in crate::sandbox) records: Table,
    /// `(message, code, retryable, details, call, tool, line) -> strict error value`.
    pub(in crate::sandbox) create: Function,
}

/// The conversions of one VM, with the metatables they share between tables of the same shape.
pub(in crate::sandbox) struct Codec {
    pub(super) lua: WeakLua,
    pub(super) meter: Arc<Meter>,
    pub(super) held: Arc<Held>,
    /// A table only we hold, at index 1 of each shape's metatable: how the prelude knows them.
    mark: Table,
    array: Table,
    plain_object: Table,
    by_pointer: Mutex<HashMap<usize, Arc<Shape>>>,
    by_keys: Mutex<HashMap<u64, Vec<ShapedObject>>>,
    pub(super) failures: FailureParts,
}

impl Codec {
    pub(in crate::sandbox) fn new(
        lua: &Lua,
        meter: Arc<Meter>,
        held: Arc<Held>,
        mark: Table,
        failures: FailureParts,
    ) -> mlua::Result<Self> {
        let codec = Self {
            lua: lua.weak(),
            meter,
            held,
            array: lua.create_table()?,
            plain_object: lua.create_table()?,
            mark,
            by_pointer: Mutex::default(),
            by_keys: Mutex::default(),
            failures,
        };
        codec.array.raw_set(1, &codec.mark)?;
        codec.plain_object.raw_set(1, &codec.mark)?;
        let shapes = [(&codec.array, Shape::Array), (&codec.plain_object, Shape::Object(Vec::new()))];
        for (metatable, shape) in shapes {
            lock(&codec.by_pointer).insert(pointer(metatable), Arc::new(shape));
        }
        Ok(codec)
    }

    pub(in crate::sandbox) fn mark_array(&self, table: &Table) -> mlua::Result<()> {
        table.set_metatable(Some(self.array.clone()))
    }

    pub(in crate::sandbox) fn mark_object(&self, table: &Table) -> mlua::Result<()> {
        table.set_metatable(Some(self.plain_object.clone()))
    }

    /// What a strict error value says, if `table` is one.
    pub(in crate::sandbox) fn failure_text(&self, table: &Table) -> Option<String> {
        if table.metatable()? != self.failures.metatable {
            return None;
        }
        let record: Table = self.failures.records.raw_get(table).ok()?;
        record.raw_get("text").ok()
    }

    /// The shape of a table, if it came from the host.
    pub(super) fn shape_of(&self, metatable: &Table) -> Option<Arc<Shape>> {
        lock(&self.by_pointer).get(&pointer(metatable)).cloned()
    }

    /// The metatable for an object with these members.
    pub(super) fn object_metatable(
        &self,
        lua: &Lua,
        members: &IndexMap<String, Value>,
    ) -> mlua::Result<Table> {
        if members.is_empty() {
            return Ok(self.plain_object.clone());
        }
        let mut hasher = DefaultHasher::new();
        for (name, value) in members {
            name.hash(&mut hasher);
            (*value == Value::Null).hash(&mut hasher);
        }
        let hash = hasher.finish();
        if let Some((_, metatable)) = lock(&self.by_keys)
            .get(&hash)
            .and_then(|candidates| candidates.iter().find(|(shape, _)| fits(shape, members)))
        {
            return Ok(metatable.clone());
        }
        let metatable = self.new_object_metatable(lua, members)?;
        let keys = members.iter().map(|(name, value)| (name.clone(), *value == Value::Null)).collect();
        let shape = Arc::new(Shape::Object(keys));
        lock(&self.by_pointer).insert(pointer(&metatable), shape.clone());
        lock(&self.by_keys).entry(hash).or_default().push((shape, metatable.clone()));
        Ok(metatable)
    }

    /// `[1]` the mark, `[2]` the keys in order, `[3]` the set of keys: what `pairs` reads.
    fn new_object_metatable(&self, lua: &Lua, members: &IndexMap<String, Value>) -> mlua::Result<Table> {
        let keys = lua.create_table_with_capacity(members.len(), 0)?;
        let known = lua.create_table_with_capacity(0, members.len())?;
        for (place, name) in members.keys().enumerate() {
            let name = lua.create_string(name)?;
            keys.raw_seti(place + 1, &name)?;
            known.raw_set(name, true)?;
        }
        lua.create_sequence_from([&self.mark, &keys, &known])
    }
}

fn fits(shape: &Shape, members: &IndexMap<String, Value>) -> bool {
    let Shape::Object(keys) = shape else { return false };
    keys.len() == members.len()
        && keys
            .iter()
            .zip(members)
            .all(|((key, null), (name, value))| key == name && *null == (*value == Value::Null))
}

pub(super) fn pointer(table: &Table) -> usize {
    table.to_pointer() as usize
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
