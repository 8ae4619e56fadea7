//! A worker process from its first instruction to its last.

use std::io::{self, BufReader, IsTerminal as _, Read, Write};

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_vm::{EngineKind, Interrupt, Vm};

use super::confine::{ConfineSettings, confined};
use super::parent::end_with_parent;
use super::serve::serve;

/// A worker's command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WorkerRole {
    /// The engine it runs plans on.
    pub engine: EngineKind,
    /// How many runs it serves before it ends.
    pub runs_max: u32,
    /// The bounds that the system enforces.
    pub confine: ConfineSettings,
}

/// Small frames arrive in one read.
const READ_BYTES: usize = 16 << 10;

/// Confines this process, then serves plans over standard input and output until the host closes
/// them. To be called first in a process of its own, with one thread and an empty environment. On Linux
/// the process ends with the thread that started it, however that thread ends.
///
/// # Errors
/// `usage` where standard input or output is a terminal or the environment is not empty,
/// `worker_unavailable` where it cannot be confined, `worker_protocol` for an invalid message.
pub fn worker_main(role: WorkerRole) -> Result<()> {
    if io::stdin().is_terminal() || io::stdout().is_terminal() {
        return Err(Error::new(ErrorCode::Usage, "a worker talks to luaplan over pipes, not to a terminal")
            .with_help("`luaplan run --isolation process` and `luaplan serve` start workers themselves"));
    }
    #[expect(clippy::disallowed_methods, reason = "asks whether there is an environment, reads none of it")]
    let mut environment = std::env::vars_os();
    if environment.any(|(name, _)| !is_set_by_system(&name)) {
        return Err(Error::new(ErrorCode::Usage, "a worker is started with an empty environment")
            .with_help("`luaplan run --isolation process` and `luaplan serve` start workers themselves"));
    }
    end_with_parent().map_err(|error| {
        Error::new(ErrorCode::WorkerUnavailable, "a worker cannot be tied to its host").with_source(error)
    })?;
    let interrupt = Interrupt::default();
    #[cfg(unix)]
    listen(&interrupt)?;
    confined(role.confine, |confinement| {
        let mut input = BufReader::with_capacity(READ_BYTES, Input);
        let (input, output, runs) = (&mut input, &mut Output, role.runs_max);
        match role.engine {
            EngineKind::Mlua => serve::<Vm>(input, output, &interrupt, runs, confinement),
            #[cfg(feature = "piccolo")]
            EngineKind::Piccolo => {
                serve::<luaplan_vm::PiccoloVm>(input, output, &interrupt, runs, confinement)
            }
            #[cfg(not(feature = "piccolo"))]
            EngineKind::Piccolo => return Err(luaplan_vm::not_built(role.engine)),
        }
        .map_err(|fault| Error::new(ErrorCode::WorkerProtocol, fault.to_string()))
    })?
}

/// macOS gives every process one variable.
fn is_set_by_system(name: &std::ffi::OsStr) -> bool {
    name.to_string_lossy().starts_with("__CF")
}

/// The host's two signals set the flag the VM looks at.
#[cfg(unix)]
fn listen(interrupt: &Interrupt) -> Result<()> {
    use super::signal::{CANCELLED, WALL_TIME};
    use luaplan_vm::InterruptReason;

    for (signal, reason) in [(WALL_TIME, InterruptReason::WallTime), (CANCELLED, InterruptReason::Cancelled)]
    {
        signal_hook::flag::register_usize(signal as i32, interrupt.flag(), reason as usize).map_err(
            |error| {
                Error::new(ErrorCode::WorkerUnavailable, "a worker cannot listen to signals")
                    .with_source(error)
            },
        )?;
    }
    Ok(())
}

/// Standard input, read without the standard library's lock and second buffer.
struct Input;

impl Read for Input {
    #[cfg(unix)]
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match nix::unistd::read(io::stdin(), room) {
                Err(nix::errno::Errno::EINTR) => {}
                read => return read.map_err(io::Error::from),
            }
        }
    }

    #[cfg(not(unix))]
    fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        io::stdin().lock().read(room)
    }
}

/// Standard output, written to in whole frames: the standard library's would cut at line breaks.
struct Output;

impl Write for Output {
    #[cfg(unix)]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match nix::unistd::write(io::stdout(), bytes) {
                Err(nix::errno::Errno::EINTR) => {}
                written => return written.map_err(io::Error::from),
            }
        }
    }

    #[cfg(not(unix))]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        io::stdout().lock().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        if cfg!(unix) { Ok(()) } else { io::stdout().lock().flush() }
    }
}
