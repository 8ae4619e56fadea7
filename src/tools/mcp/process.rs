//! A server that is a program: started without a shell, with only the given environment, in a process
//! group of its own that ends with it.

use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncReadExt as _, ReadBuf};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::settings::McpTransport;

/// What a server may write between two calls, answers included.
pub(super) const UNASKED_BYTES_MAX: u64 = 32 * 1024 * 1024;

/// So much of a server's standard error goes into the log.
const LOGGED_BYTES_MAX: usize = 64 * 1024;

/// A started server. Dropping it ends the program and all it has started.
pub(super) struct Process {
    #[cfg_attr(not(unix), expect(dead_code, reason = "kept for what its drop does"))]
    child: Child,
}

impl Process {
    /// Starts the program and returns its pipes; the one to read from ends when `allowance` is used up.
    pub(super) fn start(
        name: &str,
        transport: &McpTransport,
        allowance: Arc<AtomicU64>,
    ) -> io::Result<(Self, Metered<ChildStdout>, ChildStdin)> {
        let McpTransport::Command { command, environment, folder } = transport else {
            return Err(io::Error::other("it is no program"));
        };
        let (program, arguments) =
            command.split_first().ok_or_else(|| io::Error::other("no program is named"))?;
        let mut command = Command::new(program);
        command.args(arguments).env_clear().envs(environment).current_dir(folder).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        command.process_group(0);
        let mut child = command.spawn()?;
        let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let process = Self { child };
        let (Some(output), Some(input), Some(errors)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        tokio::spawn(log(name.to_owned(), errors));
        Ok((process, Metered { inner: output, allowance }, input))
    }
}

#[cfg(unix)]
impl Drop for Process {
    fn drop(&mut self) {
        use nix::sys::signal::{Signal, killpg};
        use nix::unistd::Pid;
        // The id identifies the group as long as the child was not waited for.
        if let Some(id) = self.child.id().and_then(|id| i32::try_from(id).ok()) {
            // A group that has ended needs no signal.
            let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
        }
    }
}

async fn log(server: String, mut errors: tokio::process::ChildStderr) {
    let mut buffer = [0; 4096];
    let mut logged = 0;
    // Read to its end even where no more is logged: a full pipe would block the server.
    while let Ok(count @ 1..) = errors.read(&mut buffer).await {
        if logged < LOGGED_BYTES_MAX {
            logged += count;
            let text = String::from_utf8_lossy(&buffer[..count]).into_owned();
            // Logged as `Debug`, so that control characters do not reach a terminal.
            tracing::debug!(server, text, "an MCP server wrote to its standard error");
        }
    }
}

/// Reads until an allowance is used up, and then reports the end.
pub(super) struct Metered<R> {
    inner: R,
    allowance: Arc<AtomicU64>,
}

impl<R: AsyncRead + Unpin> AsyncRead for Metered<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let before = buffer.filled().len();
        let polled = Pin::new(&mut this.inner).poll_read(context, buffer);
        let count = (buffer.filled().len() - before) as u64;
        let left =
            this.allowance.fetch_update(Ordering::AcqRel, Ordering::Acquire, |left| left.checked_sub(count));
        if left.is_err() {
            return Poll::Ready(Err(io::Error::other("the server writes without end")));
        }
        polled
    }
}
