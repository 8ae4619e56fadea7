//! The handle by which a host stops a VM from outside.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use luaplan_base::{Error, ErrorCode};

/// Why the host stops a VM.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum InterruptReason {
    /// The wall limit passed.
    WallTime = 1,
    /// The run was cancelled.
    Cancelled = 2,
}

impl InterruptReason {
    /// Whether a VM that was told to stop for this reason, and ended with `error`, stopped for it.
    #[must_use]
    pub fn ended_with(self, error: &Error) -> bool {
        match self {
            Self::WallTime => error.code() == ErrorCode::LimitWallTime,
            Self::Cancelled => error.code() == ErrorCode::Cancelled,
        }
    }
}

/// A handle to stop a VM from another thread. The VM looks at it at every meter step.
#[derive(Clone, Default)]
pub struct Interrupt(Arc<Signal>);

#[derive(Default)]
struct Signal {
    flag: Arc<AtomicUsize>,
    on_trigger: Mutex<Option<Box<dyn Fn() + Send>>>,
}

impl std::fmt::Debug for Interrupt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Interrupt").field(&self.reason()).finish()
    }
}

impl Interrupt {
    /// Asks the VM to stop. The first reason given stays.
    pub fn trigger(&self, reason: InterruptReason) {
        let flag = &self.0.flag;
        let _ = flag.compare_exchange(0, reason as usize, Ordering::SeqCst, Ordering::Relaxed);
        if let Some(tell) = &*self.0.on_trigger.lock().unwrap_or_else(PoisonError::into_inner) {
            tell();
        }
    }

    /// Makes [`Interrupt::trigger`] call `tell` after it sets the flag; replaces an earlier `tell`. A store
    /// to the flag alone ([`Interrupt::flag`]) does not call it.
    pub(crate) fn on_trigger(&self, tell: Box<dyn Fn() + Send>) {
        *self.0.on_trigger.lock().unwrap_or_else(PoisonError::into_inner) = Some(tell);
    }

    /// The flag itself, for a signal handler, which can only store a number: one of [`InterruptReason`].
    #[must_use]
    pub fn flag(&self) -> Arc<AtomicUsize> {
        self.0.flag.clone()
    }

    /// The reason to stop, if the VM was told to.
    #[must_use]
    pub fn reason(&self) -> Option<InterruptReason> {
        match self.0.flag.load(Ordering::Relaxed) {
            1 => Some(InterruptReason::WallTime),
            2 => Some(InterruptReason::Cancelled),
            _ => None,
        }
    }
}
