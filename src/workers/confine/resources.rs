//! Resource limits, and nothing inherited but the three standard streams.

use nix::sys::resource::{Resource, setrlimit};

use super::{ConfineSettings, STACK_BYTES};

/// The factor on the VM's own memory limit: a value is held up to three times while it crosses the
/// border (frame, value, VM).
const MEMORY_FACTOR: u64 = 4;

/// For memory that a process maps without using it: allocator arenas, the binary, libraries.
const MEMORY_SLACK_BYTES: u64 = 512 << 20;

const DESCRIPTORS: u64 = 3;

/// Limits computed while files can still be read.
#[derive(Clone, Copy)]
pub(super) struct ResourceLimits {
    address_bytes: u64,
    cpu_seconds: u64,
}

impl ResourceLimits {
    pub(super) fn new(settings: ConfineSettings) -> Self {
        let address_bytes = mapped_bytes()
            .saturating_add(STACK_BYTES as u64)
            .saturating_add(MEMORY_SLACK_BYTES)
            .saturating_add(settings.memory_bytes.saturating_mul(MEMORY_FACTOR));
        Self { address_bytes, cpu_seconds: settings.cpu_seconds.max(1) }
    }

    /// Sets them, for good.
    pub(super) fn set(self) -> Result<String, String> {
        let hard = |resource: Resource, limit: u64| {
            setrlimit(resource, limit, limit).map_err(|error| format!("{resource:?}: {error}"))
        };
        // A second later the system kills the process; the first signal names the reason.
        setrlimit(Resource::RLIMIT_CPU, self.cpu_seconds, self.cpu_seconds.saturating_add(1))
            .map_err(|error| format!("RLIMIT_CPU: {error}"))?;
        hard(Resource::RLIMIT_CORE, 0)?;
        hard(Resource::RLIMIT_FSIZE, 0)?;
        hard(Resource::RLIMIT_NOFILE, DESCRIPTORS)?;
        #[cfg(any(target_os = "linux", target_os = "android"))]
        {
            hard(Resource::RLIMIT_NPROC, 0)?;
            hard(Resource::RLIMIT_MEMLOCK, 0)?;
            hard(Resource::RLIMIT_MSGQUEUE, 0)?;
            hard(Resource::RLIMIT_AS, self.address_bytes)?;
            nix::sys::prctl::set_dumpable(false).map_err(|error| format!("PR_SET_DUMPABLE: {error}"))?;
            nix::sys::prctl::set_no_new_privs().map_err(|error| format!("no_new_privs: {error}"))?;
        }
        Ok(format!(
            "address space {} MiB, processor {} s, no files, no core",
            self.address_bytes >> 20,
            self.cpu_seconds
        ))
    }
}

/// Bytes of address space in use now, where the system tells.
fn mapped_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0).saturating_mul(1024)
}

/// Closes the descriptors that an ancestor left open across `exec`; the standard library leaves none.
pub(super) fn close_inherited() {
    let Ok(entries) = std::fs::read_dir(if cfg!(target_os = "linux") { "/proc/self/fd" } else { "/dev/fd" })
    else {
        return;
    };
    let open: Vec<i32> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse().ok()))
        .filter(|descriptor| *descriptor > 2)
        .collect();
    for descriptor in open {
        // The descriptor of the listing itself is among them, and closed already.
        let _ = nix::unistd::close(descriptor);
    }
}
