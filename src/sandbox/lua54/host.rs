//! The host's state of a VM.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::codec::Codec;
use crate::vm::calls::Calls;
use crate::vm::caught_codes::CaughtCodes;
use crate::vm::meter::Meter;
use crate::vm::steps::Steps;

/// The host's state of a VM.
pub(super) struct Host {
    pub(super) meter: Arc<Meter>,
    pub(super) codec: OnceLock<Arc<Codec>>,
    /// How Lua names the plan's chunk in positions.
    pub(super) plan_name: OnceLock<String>,
    /// When the run started, in Unix seconds.
    pub(super) run_started_s: Arc<OnceLock<i64>>,
    pub(super) calls: Mutex<Calls>,
    pub(super) printed: Mutex<String>,
    pub(super) steps: Mutex<Steps>,
    /// The plan's lines where an error was raised, innermost first.
    pub(super) frames: Mutex<Vec<u32>>,
    pub(super) codes: Mutex<CaughtCodes>,
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Host {
    pub(super) fn new(meter: Arc<Meter>) -> Self {
        Self {
            meter,
            codec: OnceLock::new(),
            plan_name: OnceLock::new(),
            run_started_s: Arc::default(),
            calls: Mutex::default(),
            printed: Mutex::default(),
            steps: Mutex::default(),
            frames: Mutex::default(),
            codes: Mutex::default(),
        }
    }

    pub(super) fn plan_name(&self) -> &str {
        self.plan_name.get().map_or("plan", String::as_str)
    }
}
