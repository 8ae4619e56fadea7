//! The processes that query SQLite files, from the side that starts them.
//!
//! SQLite checks for an interrupt between two of its steps, and one step may compute for hours; a process
//! can be killed at any moment. One process serves several calls, one after another.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use super::sqlite_job::{Job, JobAnswer, MESSAGE_BYTES_MAX, framed};

/// How long a process may take to end by itself: longer than it waits for its statement's rollback.
const END_MAX: Duration = Duration::from_secs(2);

/// A process that waits for a statement. Dropping it ends it.
pub(super) struct SqliteProcess {
    to: ChildStdin,
    from: ChildStdout,
    folder: PathBuf,
    /// Done when the process is gone.
    ended: CancellationToken,
    /// Dropping it kills the process.
    _kill: oneshot::Sender<()>,
}

impl SqliteProcess {
    /// Starts a process for the files of `folder`.
    pub(super) fn start(program: &Path, folder: &Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        #[cfg(unix)]
        command.arg0("luaplan");
        command
            .arg("sqlite-reader")
            .arg(folder)
            .env_clear()
            .current_dir(if cfg!(windows) { "\\" } else { "/" })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let mut child = command.spawn()?;
        let (Some(to), Some(from)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it was started without pipes"));
        };
        let (kill, killed) = oneshot::channel::<()>();
        let ended = CancellationToken::new();
        let gone = ended.clone().drop_guard();
        tokio::spawn(async move {
            tokio::select! {
                _ = child.wait() => {}
                _ = killed => {
                    // Its pipes are closed: it rolls back what it can, and ends.
                    if tokio::time::timeout(END_MAX, child.wait()).await.is_err() {
                        // A process that has already ended cannot be killed; the wait below covers both cases.
                        let _ = child.start_kill();
                        let _ = child.wait().await;
                    }
                }
            }
            drop(gone);
        });
        Ok(Self { to, from, folder: folder.to_path_buf(), ended, _kill: kill })
    }

    /// Whether it can still be asked.
    pub(super) fn is_alive(&self) -> bool {
        !self.ended.is_cancelled()
    }

    /// The folder whose files it may open.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Completes when the process is gone.
    pub(super) fn end(&self) -> impl Future<Output = ()> + Send + 'static {
        self.ended.clone().cancelled_owned()
    }

    /// Runs a statement. Not cancel-safe: after a cancellation the process must be dropped.
    pub(super) async fn ask(&mut self, job: &Job) -> io::Result<JobAnswer> {
        self.to.write_all(&framed(job)?).await?;
        self.to.flush().await?;
        let length = self.from.read_u32_le().await?;
        if length > MESSAGE_BYTES_MAX {
            return Err(io::Error::other("its answer is too long"));
        }
        let mut body = Vec::new();
        let read = (&mut self.from).take(u64::from(length)).read_to_end(&mut body).await?;
        if read < length as usize {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(serde_json::from_slice(&body)?)
    }
}
