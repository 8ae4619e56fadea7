//! One worker process, from the host's side: start, handshake, messages, end.

use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use luaplan_base::{Error, ErrorCode, Result};

use super::confine::Confinement;
use super::frame::{self, FrameFault};
use super::message::{self, FromWorker, Hello, MessageFault, Options, Prepare};
use super::parent;
use super::signal::WorkerSignals;
use super::worker_main::WorkerRole;

/// How long a worker may take until its first message.
const START_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a worker that has closed its pipe may take to end.
const END_TIMEOUT: Duration = Duration::from_millis(200);

/// How much of what one worker writes to standard error reaches the log.
const STDERR_BYTES_MAX: usize = 16 << 10;

/// The most bytes of a worker's first frame.
const HELLO_BYTES_MAX: u64 = 64 << 10;

/// Small frames arrive in one read.
const READ_BYTES: usize = 16 << 10;

/// The program of workers. It must answer to `worker` as `luaplan` does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerProgram(PathBuf);

impl WorkerProgram {
    /// The running program, even where its file is replaced.
    #[must_use]
    pub fn current() -> Self {
        let itself = PathBuf::from("/proc/self/exe");
        if cfg!(target_os = "linux") && itself.exists() {
            return Self(itself);
        }
        Self(std::env::current_exe().unwrap_or_else(|_| PathBuf::from("luaplan")))
    }

    /// Another program, for tests and for programs that embed the crate.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    fn command(&self, role: &WorkerRole) -> Command {
        let mut command = Command::new(&self.0);
        #[cfg(unix)]
        command.arg0("luaplan");
        command
            .arg("worker")
            .args(["--engine", role.engine.as_str()])
            .arg(format!("--runs={}", role.runs_max))
            .arg(format!("--memory-bytes={}", role.confine.memory_bytes))
            .arg(format!("--cpu-seconds={}", role.confine.cpu_seconds));
        command
            .env_clear()
            .current_dir(if cfg!(windows) { "\\" } else { "/" })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }
}

/// A worker that has sent its first message.
pub(super) struct Worker {
    pub(super) role: WorkerRole,
    pub(super) runs_left: u32,
    pub(super) prepared: Options,
    pub(super) confinement: Confinement,
    pub(super) id: u32,
    signals: WorkerSignals,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    body: Vec<u8>,
}

/// How a worker ended.
#[derive(Debug)]
pub(super) enum Ending {
    Ended(ExitStatus),
    /// It closed its pipe but did not end, and was killed.
    Lingered,
}

impl Worker {
    /// Starts a process and waits until it is confined.
    ///
    /// # Errors
    /// `worker_unavailable` where it cannot be started or does not answer in time, `worker_protocol`
    /// where it answers with something else.
    pub(super) async fn start(program: &WorkerProgram, role: WorkerRole, prepared: Options) -> Result<Self> {
        let mut child = parent::spawn(program.command(&role)).await.map_err(|error| {
            Error::new(ErrorCode::WorkerUnavailable, format!("a worker cannot be started: {error}"))
        })?;
        let id = child.id().unwrap_or(0);
        let (Some(to), Some(from), Some(errors)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Error::new(ErrorCode::Internal, "a worker was started without pipes"));
        };
        tokio::spawn(log_errors(errors, id));
        let mut worker = Self {
            role,
            runs_left: role.runs_max,
            prepared,
            confinement: Confinement::default(),
            id,
            signals: WorkerSignals { child: Arc::new(Mutex::new(child)) },
            to,
            from: BufReader::with_capacity(READ_BYTES, from),
            body: Vec::new(),
        };
        match tokio::time::timeout(START_TIMEOUT, worker.greet()).await {
            Ok(Ok(())) => Ok(worker),
            Ok(Err(fault)) => Err(worker.broken(&fault).await),
            Err(_) => {
                let waited_ms = START_TIMEOUT.as_millis();
                Err(Error::new(ErrorCode::WorkerUnavailable, "a worker did not answer after its start")
                    .with_limit(u64::try_from(waited_ms).unwrap_or(u64::MAX), "no answer"))
            }
        }
    }

    async fn greet(&mut self) -> Result<(), MessageFault> {
        frame::read_async(&mut self.from, HELLO_BYTES_MAX, &mut self.body).await?;
        let Hello { confinement } = message::decode_first(&self.body)?;
        if !confinement.is_complete() {
            static ONCE: std::sync::Once = std::sync::Once::new();
            ONCE.call_once(|| tracing::warn!(%confinement, "this system cannot confine workers fully"));
        }
        self.confinement = confinement;
        let prepare = message::encode_first(&Prepare { options: self.prepared.clone() })?;
        Ok(frame::write_async(&mut self.to, &prepare).await?)
    }

    pub(super) fn signals(&self) -> &WorkerSignals {
        &self.signals
    }

    /// Sends one frame.
    ///
    /// # Errors
    /// A pipe that failed.
    pub(super) async fn send(&mut self, frame: &[u8]) -> Result<(), MessageFault> {
        Ok(frame::write_async(&mut self.to, frame).await?)
    }

    /// The worker's next message.
    ///
    /// # Errors
    /// A pipe that failed, a frame above `limit_bytes`, or an invalid one.
    pub(super) async fn receive(&mut self, limit_bytes: u64) -> Result<FromWorker, MessageFault> {
        frame::read_async(&mut self.from, limit_bytes, &mut self.body).await?;
        let message = message::decode(&self.body);
        // The memory of one large frame must not stay for the rest of the run.
        if self.body.capacity() > 1 << 20 {
            self.body = Vec::new();
        }
        message
    }

    /// Whether it is still running.
    pub(super) fn is_alive(&self) -> bool {
        matches!(lock(&self.signals.child).try_wait(), Ok(None))
    }

    /// The error for a fault: the process ended, or violated the protocol.
    pub(super) async fn broken(&mut self, fault: &MessageFault) -> Error {
        match fault {
            MessageFault::Frame(FrameFault::Closed) => crashed(&self.ending().await),
            fault => {
                self.signals.kill();
                tracing::error!(worker = self.id, %fault, "a worker broke the protocol and was ended");
                Error::new(ErrorCode::WorkerProtocol, format!("the worker broke the protocol: {fault}"))
            }
        }
    }

    async fn ending(&mut self) -> Ending {
        let deadline = tokio::time::Instant::now() + END_TIMEOUT;
        loop {
            match lock(&self.signals.child).try_wait() {
                Ok(Some(status)) => return Ending::Ended(status),
                Ok(None) if tokio::time::Instant::now() < deadline => {}
                Ok(None) | Err(_) => {
                    self.signals.kill();
                    return Ending::Lingered;
                }
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    }
}

impl Drop for Worker {
    /// Ends the process and waits for its end.
    fn drop(&mut self) {
        self.signals.kill();
        let signals = self.signals.clone();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(reap(signals));
        }
    }
}

async fn reap(signals: WorkerSignals) {
    // A killed process ends within moments, unless the system is stuck; then dropping it here leaves
    // it to the runtime's own reaper.
    for _ in 0..1_000 {
        if !matches!(lock(&signals.child).try_wait(), Ok(None)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

fn lock(child: &Mutex<Child>) -> std::sync::MutexGuard<'_, Child> {
    child.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The error of a run whose worker is gone.
fn crashed(ending: &Ending) -> Error {
    let error = |message: String| Error::new(ErrorCode::WorkerCrashed, message);
    let status = match ending {
        Ending::Lingered => return error("the worker closed its pipe and was ended".to_owned()),
        Ending::Ended(status) => *status,
    };
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        if let Some(number) = status.signal() {
            let signal = nix::sys::signal::Signal::try_from(number);
            let name =
                signal.map_or_else(|_| format!("signal {number}"), |signal| signal.as_str().to_owned());
            let why = match &*name {
                "SIGSYS" => ": it made a system call that its confinement forbids",
                "SIGXCPU" => ": it used up the processor time of its confinement",
                "SIGABRT" => ": it gave up, most likely for want of memory",
                _ => "",
            };
            return error(format!("the worker was ended by {name}{why}")).with_detail("signal", name);
        }
    }
    error(format!("the worker ended by itself: {status}")).with_detail("exit_status", status.code())
}

/// Whether a run ended because its worker tried what its confinement forbids.
#[must_use]
pub fn is_violation(error: &Error) -> bool {
    error.code() == ErrorCode::WorkerCrashed
        && error.details().get("signal").and_then(serde_json::Value::as_str) == Some("SIGSYS")
}

/// Logs a worker's standard error, up to a cap; the rest is read and dropped, so that a worker never
/// waits for a reader.
async fn log_errors(mut errors: impl AsyncRead + Unpin, worker: u32) {
    let mut kept = Vec::new();
    let mut room = [0; 2_048];
    while let Ok(read @ 1..) = errors.read(&mut room).await {
        let left = STDERR_BYTES_MAX.saturating_sub(kept.len());
        kept.extend_from_slice(room.get(..read.min(left)).unwrap_or_default());
    }
    if !kept.is_empty() {
        // Logged as `Debug`, so that line breaks stay inside the log line.
        let text = String::from_utf8_lossy(&kept);
        tracing::warn!(worker, stderr = ?text, "a worker wrote to its standard error");
    }
}
