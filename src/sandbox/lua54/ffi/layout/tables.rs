//! The fields of tables, and of the objects that refer to them.

use std::ffi::c_int;

use mlua::ffi;

use super::float_hash::float_hash;

/// Bytes of a place for one key and its value.
pub(in crate::lua54::ffi) const NODE_BYTES: usize = size_of::<Node>();

/// The tags of values, as Lua keeps them.
const TABLE: u8 = 0x45;
const SHORT_TEXT: u8 = 0x44;
const INTEGER: u8 = 0x03;
const FLOAT: u8 = 0x13;

/// A value on the stack.
#[repr(C)]
pub(in crate::lua54::ffi) struct Slot {
    pub(super) value: u64,
    tag: u8,
}

/// The head of a Lua function; its upvalues follow.
#[repr(C)]
pub(super) struct ClosureFields {
    next: u64,
    kind: u8,
    marked: u8,
    upvalue_count: u8,
    others: [u64; 2],
}

#[repr(C)]
pub(super) struct UpvalueFields {
    next: u64,
    kind: u64,
    pub(super) slot: *const Slot,
}

#[repr(C)]
struct Node {
    value: u64,
    value_tag: u8,
    key_tag: u8,
    next: c_int,
    key: u64,
}

#[repr(C)]
struct RawTable {
    next: u64,
    kind: u8,
    marked: u8,
    absent: u8,
    nodes_log2: u8,
    list_end: u32,
    list: *const Slot,
    nodes: *const Node,
    free: *const Node,
    metatable: *const RawTable,
    gray: u64,
}

#[repr(C)]
struct TextFields {
    next: u64,
    kind: u8,
    marked: u8,
    extra: u8,
    bytes: u8,
    hash: u32,
    link: u64,
}

/// A live table, read through its fields.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::lua54::ffi) struct TableFields(*const RawTable);

impl Slot {
    /// The table in it, if it holds one.
    pub(in crate::lua54::ffi) fn table(&self) -> Option<TableFields> {
        (self.tag == TABLE).then_some(TableFields(self.value as *const RawTable))
    }
}

#[expect(unsafe_code, reason = "reads plain fields of a live table; see each block")]
impl TableFields {
    fn nodes<'a>(self) -> &'a [Node] {
        // SAFETY: the table is alive, as a slot of a live coroutine or another table holds it, and
        // its layout was verified; an empty one has one static node.
        unsafe { std::slice::from_raw_parts((*self.0).nodes, 1 << (*self.0).nodes_log2) }
    }

    /// The table its metatable names as `__newindex`, if any.
    pub(in crate::lua54::ffi) fn newindex(self) -> Option<Self> {
        // SAFETY: as in `nodes`.
        let metatable = unsafe { (*self.0).metatable };
        if metatable.is_null() {
            return None;
        }
        let node = Self(metatable).nodes().iter().find(|node| {
            // SAFETY: a short text is alive as long as its key is in the table, and its bytes follow
            // its fields.
            node.value_tag == TABLE && node.key_tag == SHORT_TEXT && unsafe { is_newindex(node.key) }
        })?;
        Some(Self(node.value as *const RawTable))
    }

    /// The hashes of its number keys outside the array part.
    pub(in crate::lua54::ffi) fn number_hashes(self) -> impl Iterator<Item = u64> {
        // Tags of nothing are 0 in their low four bits.
        self.nodes().iter().filter(|node| node.value_tag & 0xf != 0).filter_map(|node| match node.key_tag {
            INTEGER => Some(node.key),
            FLOAT => Some(float_hash(f64::from_bits(node.key))),
            _ => None,
        })
    }
}

#[expect(unsafe_code, reason = "reads the bytes of a live text")]
unsafe fn is_newindex(text: u64) -> bool {
    let text = text as *const TextFields;
    let name = b"__newindex";
    // SAFETY: the caller has a live short text.
    unsafe {
        usize::from((*text).bytes) == name.len()
            && std::slice::from_raw_parts(text.add(1).cast::<u8>(), name.len()) == name
    }
}

/// Whether tables are laid out as the fields say. The stack does not change.
#[expect(unsafe_code, reason = "makes a table on a live state and reads it")]
pub(super) unsafe fn fit(state: *mut ffi::lua_State) -> bool {
    const KEY: i64 = 0x1234_5678_9abc;
    // SAFETY: the state is alive and has room; a new VM has memory for a small table. The table is on
    // the stack while it is read, and its block is larger than `RawTable`.
    unsafe {
        ffi::lua_createtable(state, 0, 4);
        ffi::lua_pushnumber(state, 0.5);
        ffi::lua_rawseti(state, -2, KEY);
        ffi::lua_createtable(state, 0, 1);
        ffi::lua_pushvalue(state, -2);
        ffi::lua_setfield(state, -2, c"__newindex".as_ptr());
        ffi::lua_pushvalue(state, -1);
        ffi::lua_setmetatable(state, -3);
        let table = TableFields(ffi::lua_topointer(state, -2).cast());
        let fields = &*table.0;
        let fits = fields.nodes_log2 == 2
            && fields.kind == TABLE & 0x3f
            && std::ptr::eq(fields.metatable.cast(), ffi::lua_topointer(state, -1))
            && table
                .nodes()
                .iter()
                .filter(|node| node.key_tag == INTEGER && node.key == KEY.cast_unsigned())
                .count()
                == 1
            && table.number_hashes().eq([KEY.cast_unsigned()])
            && table.newindex() == Some(table);
        ffi::lua_settop(state, -3);
        fits
    }
}
