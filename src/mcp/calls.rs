//! Running calls by API key. Over HTTP a call continues after its connection is gone, so the places
//! of requests do not bound calls.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use luaplan_base::{Error, ErrorCode, Result};

/// The running calls, by key.
pub(super) struct RunningCalls {
    max: u32,
    by_key: Mutex<HashMap<String, u32>>,
}

/// A running call, until dropped.
pub(super) struct RunningCall {
    calls: Arc<RunningCalls>,
    key: String,
}

impl RunningCalls {
    pub(super) fn new(max: u32) -> Arc<Self> {
        Arc::new(Self { max, by_key: Mutex::default() })
    }

    /// A place for a call of `key`.
    ///
    /// # Errors
    /// `key_limit` where the key has its maximum of running calls.
    pub(super) fn enter(self: &Arc<Self>, key: &str) -> Result<RunningCall> {
        let mut by_key = self.lock();
        let own = by_key.get(key).copied().unwrap_or(0);
        if own >= self.max {
            let message = "as many calls of this key are under way as one key may have, those among them whose \
                           connection is gone: `server.max_requests_per_key`";
            return Err(Error::new(ErrorCode::KeyLimit, message)
                .with_limit(self.max, own)
                .with_help("wait until some have ended, cancel them, or end the session that made them"));
        }
        by_key.insert(key.to_owned(), own + 1);
        Ok(RunningCall { calls: Arc::clone(self), key: key.to_owned() })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, u32>> {
        // Each change of a count is complete, so a poisoned lock is usable.
        self.by_key.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        let mut by_key = self.calls.lock();
        if let Some(own) = by_key.get_mut(&self.key) {
            *own -= 1;
            if *own == 0 {
                by_key.remove(&self.key);
            }
        }
    }
}
