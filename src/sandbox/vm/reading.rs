//! A value on its way out of a VM, whichever engine holds it: the place, the cost and the faults of reading it.

use luaplan_base::{Error, ErrorCode, Value};

use super::host_memory::{NODE_BYTES, string_bytes};
use super::meter::{BYTES_PER_INSTRUCTION, Dead, Meter};
use super::value_path::ValuePath;

/// How deep values may be nested: as deep as serde_json accepts, so that every readable JSON document
/// passes.
pub(crate) const VALUE_DEPTH_MAX: usize = 128;

/// How many nodes one conversion may have; a shared table counts at each occurrence.
pub(crate) const VALUE_NODES_MAX: u64 = 1_000_000;

/// How many nodes are read between two checks of the interrupt.
pub(crate) const NODES_BETWEEN_LOOKS: u64 = 4096;

/// What to do with a failure that the plan has not inspected.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unlooked {
    /// The plan uses it: refuse.
    Refuse,
    /// The end of the run reports it.
    Carry,
}

/// Why reading failed.
pub(crate) enum ReadStop {
    Ours(Error),
    Dead(Dead),
}

impl From<Error> for ReadStop {
    fn from(error: Error) -> Self {
        Self::Ours(error)
    }
}

impl From<Dead> for ReadStop {
    fn from(dead: Dead) -> Self {
        Self::Dead(dead)
    }
}

/// What a reader has read so far, and where it is.
pub(crate) struct Reading<'a> {
    meter: &'a Meter,
    pub(crate) path: ValuePath,
    /// The tables around the current value, by address.
    open: Vec<usize>,
    nodes: u64,
    bytes: u64,
    /// The size of the copy outside the VM; see [`crate::vm::host_memory`].
    pub(crate) host_bytes: u64,
    /// Bytes already held, which count against the same limit.
    held_bytes: u64,
}

impl<'a> Reading<'a> {
    pub(crate) fn new(meter: &'a Meter, name: &str, held_bytes: u64) -> Self {
        let (nodes, bytes, host_bytes) = (0, 0, 0);
        Self { meter, path: ValuePath::new(name), open: Vec::new(), nodes, bytes, host_bytes, held_bytes }
    }

    /// Charges for what was read.
    pub(crate) fn charge(&self) -> Result<(), Dead> {
        self.meter.charge(self.nodes + self.bytes / BYTES_PER_INSTRUCTION)
    }

    /// Counts a value.
    pub(crate) fn count(&mut self) -> Result<(), ReadStop> {
        self.count_node()?;
        self.count_bytes(0, NODE_BYTES)
    }

    /// Counts a place that was looked at.
    pub(crate) fn count_node(&mut self) -> Result<(), ReadStop> {
        self.nodes += 1;
        if self.nodes.is_multiple_of(NODES_BETWEEN_LOOKS) {
            self.meter.check_alive()?;
        }
        if self.nodes > VALUE_NODES_MAX {
            let message = format!("`{}` has more than {VALUE_NODES_MAX} nodes", self.path.root());
            let error = Error::new(ErrorCode::ValueTooLarge, message);
            return Err(error.with_limit(VALUE_NODES_MAX, self.nodes).into());
        }
        Ok(())
    }

    /// A string shared a thousand times costs the host a thousand copies: all are counted.
    /// `bytes` are those of text, which cost instructions; `host_bytes` are all, held or not.
    pub(crate) fn count_bytes(&mut self, bytes: usize, host_bytes: u64) -> Result<(), ReadStop> {
        self.bytes = self.bytes.saturating_add(bytes as u64);
        self.host_bytes = self.host_bytes.saturating_add(host_bytes);
        let limit = self.meter.limits().memory_bytes;
        let total = self.held_bytes.saturating_add(self.host_bytes);
        if total > limit {
            return Err(self.meter.refuse_allocation(total).into());
        }
        Ok(())
    }

    /// Enters the table at `address`, which is not inside itself.
    pub(crate) fn enter_table(&mut self, address: usize) -> Result<(), ReadStop> {
        if self.open.contains(&address) {
            let message = format!("`{}` contains itself", self.path);
            return Err(Error::new(ErrorCode::ValueCyclic, message).into());
        }
        if self.open.len() >= VALUE_DEPTH_MAX {
            let message = format!("`{}` is nested deeper than {VALUE_DEPTH_MAX}", self.path);
            let error = Error::new(ErrorCode::ValueTooDeep, message);
            return Err(error.with_limit(VALUE_DEPTH_MAX, self.open.len() + 1).into());
        }
        self.open.push(address);
        Ok(())
    }

    /// Leaves the innermost table.
    pub(crate) fn leave_table(&mut self) {
        self.open.pop();
    }

    /// A float, where it has a JSON form.
    pub(crate) fn float(&self, value: f64) -> Result<Value, ReadStop> {
        if value.is_finite() {
            return Ok(Value::Float(value));
        }
        let number = if value.is_nan() { "NaN" } else { "an infinity" };
        let message = format!("`{}` is {number}, which has no JSON form", self.path);
        Err(Error::new(ErrorCode::ValueNotFinite, message).into())
    }

    /// A string of the VM: text where it is UTF-8.
    pub(crate) fn text(&mut self, bytes: &[u8]) -> Result<Value, ReadStop> {
        self.count_bytes(bytes.len(), string_bytes(bytes.len()))?;
        Ok(match std::str::from_utf8(bytes) {
            Ok(text) => Value::String(text.to_owned()),
            Err(_) => Value::Bytes(bytes.to_vec().into()),
        })
    }

    /// The fault of a value that is no data.
    pub(crate) fn not_carried(&self, type_name: &str) -> ReadStop {
        let message = format!("`{}` is a {type_name}, which has no JSON form", self.path);
        Error::new(ErrorCode::ValueNotCarried, message).into()
    }

    /// The fault of a table that is neither a list nor an object.
    pub(crate) fn unsupported(&self, has: &str) -> ReadStop {
        let message = format!("`{}` has {has}", self.path);
        Error::new(ErrorCode::ValueKeyUnsupported, message).into()
    }
}
