//! Text under construction, which reserves room before it uses it.

use super::Charge;
use crate::vm::meter::Dead;

/// Bytes that need no reservation.
const FREE_BYTES: usize = 256;

/// A growing text at the end of a buffer. The VM does not count it yet, so it asks the meter each time
/// it has grown by half.
pub(super) struct Buffer<'a> {
    pub(super) bytes: &'a mut Vec<u8>,
    meter: &'a dyn Charge,
    start: usize,
    allowed: usize,
}

impl<'a> Buffer<'a> {
    /// A text that starts where `bytes` ends.
    pub(super) fn new(meter: &'a dyn Charge, bytes: &'a mut Vec<u8>) -> Self {
        let start = bytes.len();
        Self { bytes, meter, start, allowed: FREE_BYTES }
    }

    /// Bytes of the text so far.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() - self.start
    }

    /// Charges for work that is not measured in bytes.
    pub(super) fn charge(&self, instructions: u64) -> Result<(), Dead> {
        self.meter.charge(instructions)
    }

    /// Makes sure that `more` bytes may be added.
    pub(super) fn room(&mut self, more: usize) -> Result<(), Dead> {
        let wanted = self.len().saturating_add(more);
        if wanted > self.allowed {
            self.meter.reserve(wanted as u64)?;
            self.allowed = wanted + wanted / 2;
        }
        Ok(())
    }

    pub(super) fn add(&mut self, bytes: &[u8]) -> Result<(), Dead> {
        self.room(bytes.len())?;
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    /// Adds `count` times the same byte.
    pub(super) fn fill(&mut self, byte: u8, count: usize) -> Result<(), Dead> {
        self.room(count)?;
        self.bytes.resize(self.bytes.len() + count, byte);
        Ok(())
    }
}
