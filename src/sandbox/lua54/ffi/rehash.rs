//! Tables whose keys were chosen to collide.
//!
//! Where a table is full, one instruction makes a larger block and inserts every key again, and each
//! key probes past all earlier keys with the same place. Numbers hash to themselves, so a plan can choose
//! keys that collide in the next block: half a million of them would take minutes in one instruction. So
//! the allocator checks the keys before it gives a large block. Texts hash by a seed that a plan does not
//! know.

use mlua::ffi;

use luaplan_base::{Error, ErrorCode};

use super::layout::{Frame, NODE_BYTES, Slot, TableFields};
use super::watch::Watch;
use crate::vm::meter::Meter;

/// Blocks for fewer keys are given unchecked: moving their keys takes some ten milliseconds at worst.
const NODES_UNSEEN: usize = 1 << 12;

/// How many keys one instruction may probe: some fifty milliseconds.
const PASSED_MAX: u64 = 16 << 20;

/// How many `__newindex` tables are followed for one assignment.
const NEWINDEX_MAX: usize = 2_000;

/// How many arguments of a native are checked, from the first and from the last.
const ARGS_SEEN: usize = 8;

impl Watch {
    /// Whether a request for `new_bytes` is for the keys of a table whose move takes too long. The run is
    /// dead then.
    pub(super) fn is_endless_move(&self, new_bytes: usize) -> bool {
        let nodes = new_bytes / NODE_BYTES;
        if !new_bytes.is_multiple_of(NODE_BYTES) || !nodes.is_power_of_two() || nodes <= NODES_UNSEEN {
            return false;
        }
        let running = self.running.get();
        if running.is_null() {
            return false;
        }
        let passed = tables_at_hand(running).map(|table| passed(table, nodes)).max().unwrap_or(0);
        if passed > PASSED_MAX {
            let _ = self.meter.kill(too_many(&self.meter, passed));
        }
        passed > PASSED_MAX
    }
}

fn too_many(meter: &Meter, passed: u64) -> Error {
    let message = format!(
        "the limit `instructions` would be passed by a single one: keys of a table share places in it, and \
         moving them would go past keys {passed} times, of {PASSED_MAX} at most"
    );
    let limit = meter.limits().instructions;
    Error::new(ErrorCode::LimitInstructions, message)
        .with_limit(limit, meter.instructions().saturating_add(passed))
        .with_help("Use texts as keys, or numbers without a large common factor.")
}

/// The tables that the current operation of `state` may put a key into.
fn tables_at_hand(state: *mut ffi::lua_State) -> impl Iterator<Item = TableFields> {
    let frame = Watch::coroutine(state).frame();
    let mut found: Vec<TableFields> = Vec::new();
    let direct = match frame {
        Frame::Lua { assigned } => assigned.into_iter().collect(),
        Frame::Native { args } => {
            let last = args.len().saturating_sub(ARGS_SEEN).max(ARGS_SEEN.min(args.len()));
            let seen = args.iter().take(ARGS_SEEN).chain(args.iter().skip(last));
            seen.filter_map(Slot::table).collect::<Vec<_>>()
        }
    };
    for table in direct {
        let mut next = Some(table);
        for _ in 0..NEWINDEX_MAX {
            let Some(table) = next.filter(|table| !found.contains(table)) else { break };
            found.push(table);
            next = table.newindex();
        }
    }
    found.into_iter()
}

/// How many probes a move of the keys of `table` into a block of `nodes` takes.
fn passed(table: TableFields, nodes: usize) -> u64 {
    let mut counts: Vec<u32> = Vec::new();
    let places = (nodes as u64 - 1) | 1;
    let mut passed = 0_u64;
    for hash in table.number_hashes() {
        if counts.is_empty() {
            counts.resize(nodes, 0);
        }
        let place = usize::try_from(hash % places).unwrap_or(0);
        if let Some(count) = counts.get_mut(place) {
            passed += u64::from(*count);
            *count = count.saturating_add(1);
        }
    }
    passed
}
