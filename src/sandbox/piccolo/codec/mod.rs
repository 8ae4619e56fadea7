//! Values into the VM and out of it, by the rules of the first engine: see [`crate::lua54`].
//!
//! A table from outside has a metatable of ours: `[1]` the mark, and for objects `[2]` the keys in
//! order, `[3]` the set of keys, which `pairs` reads, and `[4]` the set of keys that were null.

mod failures;
mod read;
mod shape;
mod write;

use std::cell::{OnceCell, RefCell};
use std::collections::HashMap;
use std::sync::Arc;

use piccolo::StashedTable;

use crate::vm::host_memory::HeldBytes;
use crate::vm::meter::Meter;

/// The conversions of one VM, with the metatables that tables of the same shape share.
pub(super) struct Codec {
    meter: Arc<Meter>,
    held: Arc<HeldBytes>,
    array: OnceCell<StashedTable>,
    objects: RefCell<HashMap<Vec<(String, bool)>, StashedTable>>,
}

impl Codec {
    pub(super) fn new(meter: Arc<Meter>, held: Arc<HeldBytes>) -> Self {
        Self { meter, held, array: OnceCell::new(), objects: RefCell::default() }
    }
}
