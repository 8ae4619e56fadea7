//! The rights that a worker drops before it reads any plan.
//!
//! On Linux: resource limits, Landlock without any path, port or scope, and a seccomp filter that allows
//! only what the loop needs and kills the process at any other call. On other Unix systems: resource
//! limits. The layers are independent of one another; a layer that the kernel lacks is omitted, reported
//! to the host, and shown by `luaplan doctor`.

#[cfg(target_os = "linux")]
mod calls;
#[cfg(target_os = "linux")]
mod files;
#[cfg(unix)]
mod resources;

use serde::{Deserialize, Serialize};

use luaplan_base::{Error, ErrorCode, Result};

/// What a worker may use at most, enforced by the system. Higher than a run's own limits: these bounds
/// are for a VM that no longer keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConfineSettings {
    /// The memory limit of the runs it is for, in bytes.
    pub memory_bytes: u64,
    /// Processor time for all of its runs together, in seconds.
    pub cpu_seconds: u64,
}

/// One layer of a confinement.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConfinementLayer {
    /// `resources`, `landlock` or `seccomp`.
    pub name: String,
    /// Whether it is in force.
    pub is_in_force: bool,
    /// What it restricts, or why it is not in force.
    pub detail: String,
}

/// What confines a worker.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confinement {
    /// Its layers, in the order they were laid.
    pub layers: Vec<ConfinementLayer>,
}

impl Confinement {
    /// Whether every layer of this system is in force.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.layers.iter().all(|layer| layer.is_in_force)
    }

    fn add(&mut self, name: &str, laid: std::result::Result<String, String>) {
        let is_in_force = laid.is_ok();
        let detail = laid.unwrap_or_else(|reason| reason);
        self.layers.push(ConfinementLayer { name: name.to_owned(), is_in_force, detail });
    }
}

impl std::fmt::Display for Confinement {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (place, layer) in self.layers.iter().enumerate() {
            let (comma, not) =
                (if place == 0 { "" } else { "; " }, if layer.is_in_force { "" } else { "not " });
            write!(f, "{comma}{} {not}in force ({})", layer.name, layer.detail)?;
        }
        Ok(())
    }
}

/// Bytes of stack for the thread that runs the VM.
pub(super) const STACK_BYTES: usize = 64 << 20;

/// Runs `work` confined, on a thread of its own, and returns its result. `work` starts when nothing can be
/// opened any more.
///
/// The calling thread and every later one are confined as well, irrevocably.
///
/// # Errors
/// `worker_unavailable` where the system refuses a layer it has.
pub fn confined<T: Send>(settings: ConfineSettings, work: impl FnOnce(Confinement) -> T + Send) -> Result<T> {
    let mut confinement = Confinement::default();
    let refused = |layer: &str, error: &dyn std::fmt::Display| {
        Error::new(ErrorCode::WorkerUnavailable, format!("a worker could not be confined: {layer}: {error}"))
    };
    std::env::set_current_dir(if cfg!(windows) { "\\" } else { "/" })
        .map_err(|error| refused("working folder", &error))?;
    #[cfg(unix)]
    let limits = resources::ResourceLimits::new(settings);
    #[cfg(unix)]
    resources::close_inherited();
    #[cfg(target_os = "linux")]
    confinement.add("landlock", files::forbid());
    // The rest runs in the thread of the VM: starting it is the last step that needs more rights.
    std::thread::scope(|scope| {
        let inner = std::thread::Builder::new().name("plan".to_owned()).stack_size(STACK_BYTES);
        let inner = inner.spawn_scoped(scope, move || {
            #[cfg(unix)]
            confinement.add("resources", limits.set());
            #[cfg(target_os = "linux")]
            confinement.add("seccomp", calls::forbid());
            #[cfg(not(unix))]
            confinement.add("resources", Err(format!("{settings:?} cannot be set on this system")));
            work(confinement)
        });
        let inner = inner.map_err(|error| refused("thread", &error))?;
        inner.join().map_err(|_| Error::new(ErrorCode::Internal, "a worker's thread broke off"))
    })
}
