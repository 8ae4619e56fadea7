//! The walls around a command, as arguments of bubblewrap.
//!
//! The command sees the system's programs and libraries, read-only; folders that configuration
//! names; an empty `/tmp`, and nothing else: no home, no network, no other process.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Where programs and their libraries are. A link outside is the same link inside.
const SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];
/// System settings that programs read, none of them secret.
const SETTINGS: [&str; 8] = [
    "/etc/alternatives",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/localtime",
    "/etc/passwd",
    "/etc/group",
    "/etc/mime.types",
];
/// What a granted network needs to find hosts and to trust them.
const NETWORK: [&str; 6] =
    ["/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl", "/etc/ca-certificates", "/etc/pki"];

/// Parts of `/proc` that steer the kernel of the whole machine. Their files belong to root, and a namespace
/// does not change that for a process that is root outside.
const KERNEL: [&str; 10] = [
    "/proc/sys",
    "/proc/sysrq-trigger",
    "/proc/irq",
    "/proc/bus",
    "/proc/fs",
    "/proc/acpi",
    "/proc/scsi",
    "/proc/asound",
    "/proc/driver",
    "/proc/mtrr",
];

/// The search path for programs, inside.
pub(super) const SEARCH_PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What a command may reach.
#[derive(Debug, Clone)]
pub(super) struct Confinement {
    /// The `bwrap` program.
    pub(super) bubblewrap: PathBuf,
    /// Absolute.
    pub(super) read: Vec<PathBuf>,
    /// Absolute.
    pub(super) write: Vec<PathBuf>,
    pub(super) network: bool,
    /// Absolute, inside a folder of the above; without one, `/tmp`.
    pub(super) working_dir: Option<PathBuf>,
}

impl Confinement {
    /// The arguments of bubblewrap up to the command's own words. No value of a variable is among
    /// them: others may read a process's arguments.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        let mut arguments: Vec<OsString> = Vec::new();
        let mut add = |words: &[&dyn AsRef<std::ffi::OsStr>]| {
            arguments.extend(words.iter().map(|word| word.as_ref().to_os_string()));
        };
        add(&[&"--unshare-all", &"--die-with-parent", &"--new-session", &"--cap-drop", &"ALL"]);
        add(&[&"--hostname", &"luaplan"]);
        if self.network {
            add(&[&"--share-net"]);
        }
        for place in SYSTEM {
            match Path::new(place).read_link() {
                Ok(target) => add(&[&"--symlink", &target, &place]),
                Err(_) => add(&[&"--ro-bind-try", &place, &place]),
            }
        }
        for place in SETTINGS {
            add(&[&"--ro-bind-try", &place, &place]);
        }
        if self.network {
            for place in NETWORK {
                add(&[&"--ro-bind-try", &place, &place]);
            }
        }
        add(&[&"--proc", &"/proc", &"--dev", &"/dev", &"--tmpfs", &"/tmp"]);
        for place in KERNEL {
            add(&[&"--ro-bind-try", &place, &place]);
        }
        for place in &self.read {
            add(&[&"--ro-bind", place, place]);
        }
        for place in &self.write {
            add(&[&"--bind", place, place]);
        }
        let working_dir = self.working_dir.as_deref().unwrap_or(Path::new("/tmp"));
        add(&[&"--chdir", &working_dir, &"--"]);
        arguments
    }
}
