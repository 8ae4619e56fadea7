//! Counts steps and passes them to the meter in batches.

use super::super::{Charge, NativeError};

/// How many steps are taken between two checks of the meter: some microseconds of work.
const STEPS_PER_CHARGE: u64 = 1_024;

/// Bytes that are compared or searched through as one step.
const BYTES_PER_STEP: u64 = 16;

/// Counts the steps of one call. What has been counted at the end depends on the arguments alone.
pub(super) struct Steps<'a> {
    meter: &'a dyn Charge,
    pending: u64,
}

impl<'a> Steps<'a> {
    pub(super) fn new(meter: &'a dyn Charge) -> Self {
        Self { meter, pending: 0 }
    }

    /// Counts so many steps.
    ///
    /// # Errors
    /// The run is over.
    #[inline]
    pub(super) fn add(&mut self, steps: u64) -> Result<(), NativeError> {
        self.pending += steps;
        if self.pending >= STEPS_PER_CHARGE { self.settle() } else { Ok(()) }
    }

    /// Counts the steps of comparing or searching so many bytes.
    ///
    /// # Errors
    /// The run is over.
    pub(super) fn add_bytes(&mut self, bytes: usize) -> Result<(), NativeError> {
        self.add(bytes as u64 / BYTES_PER_STEP)
    }

    /// Passes the pending steps to the meter.
    ///
    /// # Errors
    /// The run is over.
    #[cold]
    pub(super) fn settle(&mut self) -> Result<(), NativeError> {
        Ok(self.meter.charge(std::mem::take(&mut self.pending))?)
    }
}
