//! What a table from the host remembers: its kind, its keys in order, which of them were null.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use mlua::{Function, Lua, Table, WeakLua};

use luaplan_base::Value;

use crate::vm::host_memory::HeldBytes;
use crate::vm::meter::Meter;

/// The kind and keys of a table that came from the host.
#[derive(Debug)]
pub(in crate::lua54) enum Shape {
    Array,
    /// Keys in order, with whether each was null.
    Object(Vec<(String, bool)>),
}

/// The place of a shape, and of the metatable that stands for it in the VM.
pub(in crate::lua54) type ShapePlace = u32;

/// The metatables of lists and of objects without known keys are made first.
pub(in crate::lua54) const ARRAY_PLACE: ShapePlace = 1;
const PLAIN_OBJECT_PLACE: ShapePlace = 2;

/// All shapes of a VM.
#[derive(Default)]
struct Shapes {
    /// By place, counted from 1.
    list: Vec<Arc<Shape>>,
    /// The place by the address of the metatable, which lives as long as the VM.
    by_pointer: HashMap<usize, ShapePlace>,
    /// Places by a hash of the keys.
    by_keys: HashMap<u64, Vec<ShapePlace>>,
    /// The place of the last object: answers of one tool look alike.
    last: Option<ShapePlace>,
}

/// The tables and functions of the prelude that make and keep strict error values.
pub(crate) struct FailureParts {
    /// The metatable every strict error value has.
    pub(crate) metatable: Table,
    /// From strict error value to its record.
    pub(crate) records: Table,
    /// `(message, code, retryable, details, call, tool, line) -> strict error value`.
    pub(crate) create: Function,
}

/// The conversions of one VM, with the metatables they share between tables of the same shape.
pub(crate) struct Codec {
    pub(super) lua: WeakLua,
    pub(in crate::lua54) meter: Arc<Meter>,
    pub(super) held: Arc<HeldBytes>,
    /// A table that no plan holds, at index 1 of each shape's metatable: the prelude identifies them by it.
    mark: Table,
    /// The metatables, each at its shape's place.
    pub(in crate::lua54) metatables: Table,
    shapes: Mutex<Shapes>,
    pub(in crate::lua54) failures: FailureParts,
    pub(super) has_failures: AtomicBool,
}

impl Codec {
    pub(crate) fn new(
        lua: &Lua,
        meter: Arc<Meter>,
        held: Arc<HeldBytes>,
        mark: Table,
        failures: FailureParts,
    ) -> mlua::Result<Self> {
        let codec = Self {
            lua: lua.weak(),
            meter,
            held,
            metatables: lua.create_table_with_capacity(4, 0)?,
            mark,
            shapes: Mutex::default(),
            failures,
            has_failures: AtomicBool::new(false),
        };
        for shape in [Shape::Array, Shape::Object(Vec::new())] {
            codec.add(&lua.create_sequence_from([&codec.mark])?, shape)?;
        }
        Ok(codec)
    }

    /// Keeps a shape and its metatable.
    fn add(&self, metatable: &Table, shape: Shape) -> mlua::Result<ShapePlace> {
        let mut shapes = lock(&self.shapes);
        let place = ShapePlace::try_from(shapes.list.len() + 1).unwrap_or(ShapePlace::MAX);
        self.metatables.raw_set(place, metatable)?;
        shapes.list.push(Arc::new(shape));
        shapes.by_pointer.insert(pointer(metatable), place);
        Ok(place)
    }

    pub(crate) fn mark_array(&self, table: &Table) -> mlua::Result<()> {
        table.set_metatable(Some(self.metatables.raw_get(ARRAY_PLACE)?))
    }

    pub(crate) fn mark_object(&self, table: &Table) -> mlua::Result<()> {
        table.set_metatable(Some(self.metatables.raw_get(PLAIN_OBJECT_PLACE)?))
    }

    /// Bytes held outside the VM for calls without an answer.
    pub(in crate::lua54) fn held_bytes(&self) -> u64 {
        self.held.bytes()
    }

    /// Counts the arguments of the pending call as held.
    pub(in crate::lua54) fn hold(&self, bytes: u64) {
        self.held.add(bytes);
    }

    /// The memory limit, which holds outside the VM too.
    pub(in crate::lua54) fn memory_bytes(&self) -> u64 {
        self.meter.limits().memory_bytes
    }

    pub(in crate::lua54) fn lua(&self) -> Option<Lua> {
        self.lua.try_upgrade()
    }

    /// Notes that the plan got a strict error value.
    pub(in crate::lua54) fn note_failure(&self) {
        self.has_failures.store(true, Ordering::Relaxed);
    }

    /// Whether the plan ever got a strict error value.
    pub(in crate::lua54) fn has_failures(&self) -> bool {
        self.has_failures.load(Ordering::Relaxed)
    }

    /// What a strict error value says, and of which call, if `table` is one.
    pub(crate) fn failure_text(&self, table: &Table) -> Option<(String, Option<String>)> {
        if table.metatable()? != self.failures.metatable {
            return None;
        }
        let record: Table = self.failures.records.raw_get(table).ok()?;
        Some((record.raw_get("text").ok()?, record.raw_get("call").ok()?))
    }

    /// The shape of a table, if it came from the host.
    pub(super) fn shape_of(&self, metatable: &Table) -> Option<Arc<Shape>> {
        self.shape_at(pointer(metatable)).map(|(shape, _)| shape)
    }

    /// The shape a metatable at this address stands for.
    pub(in crate::lua54) fn shape_at(&self, metatable: usize) -> Option<(Arc<Shape>, ShapePlace)> {
        let shapes = lock(&self.shapes);
        let place = *shapes.by_pointer.get(&metatable)?;
        Some((shapes.list.get(place as usize - 1)?.clone(), place))
    }

    /// The shape at a place.
    pub(in crate::lua54) fn shape(&self, place: ShapePlace) -> Option<Arc<Shape>> {
        lock(&self.shapes).list.get(place as usize - 1).cloned()
    }

    /// The metatable for an object with these members.
    pub(super) fn object_metatable(
        &self,
        lua: &Lua,
        members: &IndexMap<String, Value>,
    ) -> mlua::Result<Table> {
        self.metatables.raw_get(self.object_place(lua, members)?)
    }

    /// The place of the shape of an object with these members, made where there is none.
    pub(in crate::lua54) fn object_place(
        &self,
        lua: &Lua,
        members: &IndexMap<String, Value>,
    ) -> mlua::Result<ShapePlace> {
        if members.is_empty() {
            return Ok(PLAIN_OBJECT_PLACE);
        }
        let fits = |shapes: &Shapes, place: ShapePlace| {
            shapes.list.get(place as usize - 1).is_some_and(|shape| shape.fits(members))
        };
        {
            let shapes = lock(&self.shapes);
            if let Some(last) = shapes.last.filter(|last| fits(&shapes, *last)) {
                return Ok(last);
            }
        }
        let mut hasher = DefaultHasher::new();
        for (name, value) in members {
            name.hash(&mut hasher);
            (*value == Value::Null).hash(&mut hasher);
        }
        let hash = hasher.finish();
        {
            let mut shapes = lock(&self.shapes);
            let mut candidates = shapes.by_keys.get(&hash).into_iter().flatten().copied();
            if let Some(place) = candidates.find(|place| fits(&shapes, *place)) {
                shapes.last = Some(place);
                return Ok(place);
            }
        }
        let metatable = self.new_object_metatable(lua, members)?;
        let keys = members.iter().map(|(name, value)| (name.clone(), *value == Value::Null)).collect();
        let place = self.add(&metatable, Shape::Object(keys))?;
        let mut shapes = lock(&self.shapes);
        shapes.by_keys.entry(hash).or_default().push(place);
        shapes.last = Some(place);
        Ok(place)
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

impl Shape {
    /// Whether an object with these members has this shape.
    pub(in crate::lua54) fn fits(&self, members: &IndexMap<String, Value>) -> bool {
        let Self::Object(keys) = self else { return false };
        keys.len() == members.len()
            && keys
                .iter()
                .zip(members)
                .all(|((key, null), (name, value))| key == name && *null == (*value == Value::Null))
    }
}

pub(super) fn pointer(table: &Table) -> usize {
    table.to_pointer() as usize
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
