//! What an inline template may cost beyond its instructions.
//!
//! The engine's fuel counts instructions, and one instruction can do unbounded work: join two long
//! texts, compare two deep lists, sort. So work is counted as well, in units of about one visited
//! value or one written byte.

use std::sync::atomic::{AtomicU64, Ordering};

use minijinja::value::{Value, ValueKind};
use minijinja::{Error, ErrorKind};

/// Values nest at most so deep, so that walking and dropping them cannot exhaust the stack.
const DEPTH_MAX: u32 = 128;

/// Work one instruction of fuel is worth.
const WORK_PER_FUEL: u64 = 10;

/// Counts work and written bytes of one rendering.
#[derive(Debug)]
pub(super) struct FilterMeter {
    work_max: u64,
    work: AtomicU64,
    output_bytes_max: u64,
    output_bytes: AtomicU64,
}

/// A cap was hit; the engine carries this as the source of its error.
#[derive(Debug, Clone, Copy, thiserror::Error)]
pub(super) enum Exceeded {
    #[error("the template does more work than its fuel allows")]
    Work { limit: u64, observed: u64 },
    #[error("the result is larger than {limit} bytes")]
    Output { limit: u64, observed: u64 },
}

impl FilterMeter {
    pub(super) fn new(fuel: u64, output_bytes_max: u64) -> Self {
        Self {
            work_max: fuel.saturating_mul(WORK_PER_FUEL),
            work: AtomicU64::new(0),
            output_bytes_max,
            output_bytes: AtomicU64::new(0),
        }
    }

    /// Counts work.
    pub(super) fn charge(&self, units: u64) -> Result<(), Error> {
        let observed = self.work.fetch_add(units, Ordering::Relaxed).saturating_add(units);
        if observed > self.work_max {
            return Err(stop(Exceeded::Work { limit: self.work_max, observed }));
        }
        Ok(())
    }

    /// Counts bytes that go to the result.
    pub(super) fn emit(&self, bytes: u64) -> Result<(), Error> {
        let observed = self.output_bytes.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if observed > self.output_bytes_max {
            return Err(stop(Exceeded::Output { limit: self.output_bytes_max, observed }));
        }
        Ok(())
    }

    /// Counts the work of walking through a value once.
    pub(super) fn charge_walk(&self, value: &Value) -> Result<(), Error> {
        self.weigh(value, 0).map(|_| ())
    }

    /// Counts the work of writing a value as text, and returns about how many bytes that is.
    pub(super) fn charge_text(&self, value: &Value) -> Result<u64, Error> {
        let bytes = self.weigh(value, 0)?;
        self.charge(bytes)?;
        Ok(bytes)
    }

    /// Walks through a value, counting as it goes so that the walk itself is bounded. Returns about
    /// how many bytes it has as text.
    fn weigh(&self, value: &Value, depth: u32) -> Result<u64, Error> {
        const SCALAR_BYTES: u64 = 8;
        const BYTES_PER_UNIT: u64 = 16;
        if depth > DEPTH_MAX {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                format!("a value is nested deeper than {DEPTH_MAX}"),
            ));
        }
        if let Some(text) = value.as_str() {
            let bytes = text.len() as u64;
            self.charge(1 + bytes / BYTES_PER_UNIT)?;
            return Ok(bytes);
        }
        self.charge(1)?;
        let mut bytes = SCALAR_BYTES;
        match value.kind() {
            ValueKind::Seq | ValueKind::Iterable => {
                for item in value.try_iter()? {
                    bytes = bytes.saturating_add(self.weigh(&item, depth + 1)?);
                }
            }
            ValueKind::Map => {
                for key in value.try_iter()? {
                    bytes = bytes.saturating_add(self.weigh(&key, depth + 1)?);
                    bytes = bytes.saturating_add(self.weigh(&value.get_item(&key)?, depth + 1)?);
                }
            }
            _ => {}
        }
        Ok(bytes)
    }
}

fn stop(exceeded: Exceeded) -> Error {
    Error::new(ErrorKind::InvalidOperation, exceeded.to_string()).with_source(exceeded)
}
