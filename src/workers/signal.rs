//! Signals from host to worker: stop with a reason, pause, continue, kill.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::process::Child;

#[cfg(unix)]
pub(super) const WALL_TIME: nix::sys::signal::Signal = nix::sys::signal::Signal::SIGUSR1;
#[cfg(unix)]
pub(super) const CANCELLED: nix::sys::signal::Signal = nix::sys::signal::Signal::SIGUSR2;

use luaplan_vm::InterruptReason;

/// A handle to signal a worker's process beside the exchange of messages.
///
/// The system reuses a process id once the process has been waited for. So each signal reads the id from
/// the child under the lock: a child that was waited for has none.
#[derive(Debug, Clone)]
pub struct WorkerSignals {
    pub(super) child: Arc<Mutex<Child>>,
}

impl WorkerSignals {
    /// Asks the VM to stop by itself. A paused worker continues for that.
    pub fn interrupt(&self, reason: InterruptReason) {
        #[cfg(unix)]
        self.send(match reason {
            InterruptReason::WallTime => WALL_TIME,
            InterruptReason::Cancelled => CANCELLED,
        });
        #[cfg(not(unix))]
        let _ = reason;
        self.resume();
    }

    /// Pauses the process until [`WorkerSignals::resume`]. Does nothing where the system cannot.
    pub fn hold(&self) {
        #[cfg(unix)]
        self.send(nix::sys::signal::Signal::SIGSTOP);
    }

    /// Continues the process.
    pub fn resume(&self) {
        #[cfg(unix)]
        self.send(nix::sys::signal::Signal::SIGCONT);
    }

    /// Ends the process at once.
    pub fn kill(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        // An error means that it has ended.
        let _ = child.start_kill();
    }

    #[cfg(unix)]
    fn send(&self, signal: nix::sys::signal::Signal) {
        let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(id) = child.id().and_then(|id| i32::try_from(id).ok()) {
            let _ = nix::sys::signal::kill(nix::unistd::Pid::from_raw(id), signal);
        }
    }
}
