//! The memory of values read out of a VM, which the VM's allocator does not see.
//!
//! A table that a plan shares a thousand times is one table in the VM and a thousand copies outside.
//! So a reader counts a high estimate of every copy it makes, and the arguments of unanswered calls are
//! counted together; the VM's memory limit holds for both.

use std::sync::atomic::{AtomicU64, Ordering};

use indexmap::IndexMap;

use luaplan_base::Value;

/// What the allocator adds to a block, and rounding.
const BLOCK_BYTES: u64 = 32;

/// A place for a value, in a list or a member.
pub(crate) const NODE_BYTES: u64 = size_of::<Value>() as u64;

/// A list of its own block.
pub(crate) const LIST_BYTES: u64 = BLOCK_BYTES;

/// An object without members: a block of entries, and a table of places, initially four.
pub(crate) const OBJECT_BYTES: u64 = 3 * BLOCK_BYTES;

/// What a member takes besides its value and the bytes of its name: name, hash, place, block.
const MEMBER_BYTES: u64 = (size_of::<String>() + 4 * size_of::<u64>()) as u64 + BLOCK_BYTES;

const _: () = assert!(size_of::<Value>() >= size_of::<IndexMap<String, Value>>());

/// What a text takes besides its node. Twice its length: the receiver often makes a second form.
pub(crate) fn string_bytes(length: usize) -> u64 {
    (length as u64).saturating_mul(2).saturating_add(BLOCK_BYTES)
}

/// What a member takes besides its value.
pub(crate) fn member_bytes(name: &str) -> u64 {
    MEMBER_BYTES.saturating_add(name.len() as u64)
}

/// The estimated bytes of the arguments of calls without an answer.
#[derive(Debug, Default)]
pub(crate) struct HeldBytes {
    /// Of the call whose arguments the VM reads now.
    begun: AtomicU64,
    /// Of requested calls without an answer.
    asked: AtomicU64,
}

impl HeldBytes {
    /// All that is held now.
    pub(crate) fn bytes(&self) -> u64 {
        self.begun.load(Ordering::Relaxed).saturating_add(self.asked.load(Ordering::Relaxed))
    }

    /// Adds an argument of the current call.
    pub(crate) fn add(&self, bytes: u64) {
        self.begun.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Drops the current call: one of its arguments cannot be read.
    pub(crate) fn forget(&self) {
        self.begun.store(0, Ordering::Relaxed);
    }

    /// The current call has been requested.
    pub(crate) fn ask(&self) {
        self.asked.fetch_add(self.begun.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    }

    /// All calls have been answered.
    pub(crate) fn release(&self) {
        self.asked.store(0, Ordering::Relaxed);
    }
}
