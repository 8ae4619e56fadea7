//! Checks before a conversion that its memory is available.
//!
//! While a memory limit is set, the binding guards every single allocation, which costs more than
//! the allocations. So where the conversion's upper bound fits into the remaining memory, the limit is
//! lifted for its duration; no code of the plan runs meanwhile.

use mlua::Lua;

use luaplan_base::Value;

/// Lua's own sizes on 64-bit machines, rounded up, with the binding's reference.
const TABLE_BYTES: u64 = 64;
const SLOT_BYTES: u64 = 16;
const NODE_BYTES: u64 = 40;
const STRING_BYTES: u64 = 48;

/// The memory limit, lifted until dropped.
pub(super) struct Room<'a> {
    lua: &'a Lua,
    limit: usize,
}

impl<'a> Room<'a> {
    /// Room for reading, which makes nothing in the VM but a few references.
    pub(super) fn for_reading(lua: &'a Lua) -> Option<Self> {
        let limit = lua.set_memory_limit(0).ok()?;
        Some(Self { lua, limit })
    }

    /// Room for making `value`, if it surely fits.
    pub(super) fn for_writing(lua: &'a Lua, value: &Value) -> Option<Self> {
        let limit = lua.set_memory_limit(0).ok()?;
        let room = Self { lua, limit };
        let needed = (lua.used_memory() as u64).saturating_add(most_bytes(value));
        (limit == 0 || needed <= limit as u64).then_some(room)
    }
}

impl Drop for Room<'_> {
    fn drop(&mut self) {
        // Only a VM without memory control refuses, and this one had a limit.
        let _ = self.lua.set_memory_limit(self.limit);
    }
}

/// An upper bound of what the Lua form of `value` takes, its shape included.
fn most_bytes(value: &Value) -> u64 {
    match value {
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Float(_) => 0,
        Value::String(text) => string_bytes(text.len()),
        Value::Bytes(bytes) => string_bytes(bytes.len()),
        Value::Array(items) => {
            TABLE_BYTES + SLOT_BYTES * items.len() as u64 + items.iter().map(most_bytes).sum::<u64>()
        }
        Value::Object(members) => members_bytes(members),
        Value::Failure(failure) => {
            let text = 3 * (failure.message.len() + failure.code.len()) as u64;
            16 * TABLE_BYTES + text + members_bytes(&failure.details)
        }
    }
}

fn members_bytes(members: &indexmap::IndexMap<String, Value>) -> u64 {
    let nodes = NODE_BYTES * (members.len() as u64).next_power_of_two();
    // The object, and its shape: a metatable, a list of keys and a set of keys.
    let tables = 4 * TABLE_BYTES + 2 * nodes + SLOT_BYTES * (members.len() as u64 + 4);
    tables + members.iter().map(|(name, value)| string_bytes(name.len()) + most_bytes(value)).sum::<u64>()
}

fn string_bytes(length: usize) -> u64 {
    STRING_BYTES + length as u64
}
