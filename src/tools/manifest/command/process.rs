//! Runs a command, counts its output as it comes, and ends its whole process tree with it.

use std::path::Path;
use std::process::Stdio;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, Command};

use luaplan_base::{ErrorCode, ToolFailure};

/// So much of standard error is kept, from its end, where programs report what went wrong.
const STDERR_BYTES_MAX: usize = 4 * 1024;

/// How a command ended.
#[derive(Debug)]
pub(super) struct Ended {
    /// `None` where a signal ended it.
    pub(super) exit_code: Option<i32>,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

/// Ends the process and all it started in its group when dropped: at the deadline, when the run is
/// cancelled, or when too much was written. Under bubblewrap nothing leaves the group's reach, as the
/// namespace of its processes ends with its first one.
struct Tree {
    child: Child,
    #[cfg(unix)]
    group: Option<nix::unistd::Pid>,
}

impl Tree {
    fn new(child: Child) -> Self {
        #[cfg(unix)]
        let group = child.id().and_then(|id| i32::try_from(id).ok()).map(nix::unistd::Pid::from_raw);
        Self {
            child,
            #[cfg(unix)]
            group,
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(group) = self.group {
            // bubblewrap's child asks to end with its parent only once it runs, so a new child is killed
            // by its id. A stopped parent makes no more of them. Once the parent was waited for, its id
            // may belong to another process.
            if self.child.id().is_some() {
                let _ = nix::sys::signal::kill(group, nix::sys::signal::Signal::SIGSTOP);
                for child in children_of(group) {
                    let _ = nix::sys::signal::kill(child, nix::sys::signal::Signal::SIGKILL);
                }
            }
            // The group may already have ended, which is no error.
            let _ = nix::sys::signal::killpg(group, nix::sys::signal::Signal::SIGKILL);
        }
        let _ = self.child.start_kill();
    }
}

/// The processes this one has started, where the system tells.
#[cfg(unix)]
fn children_of(parent: nix::unistd::Pid) -> Vec<nix::unistd::Pid> {
    let listed = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let listed = listed.unwrap_or_default();
    listed.split_whitespace().filter_map(|id| id.parse().ok()).map(nix::unistd::Pid::from_raw).collect()
}

/// The first descriptor after input, output and errors.
#[cfg(unix)]
const FIRST_NOT_STANDARD: i32 = 3;

/// Runs `command` to its end.
///
/// # Errors
/// `command_failed` where it cannot be started, `result_too_large` where it writes more than
/// `stdout_max` bytes.
pub(super) async fn run(
    mut command: Command,
    program: &Path,
    input: Vec<u8>,
    stdout_max: u64,
) -> Result<Ended, ToolFailure> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    #[cfg(unix)]
    command.process_group(0);
    // Otherwise the command would inherit this process's open descriptors, past its walls.
    #[cfg(unix)]
    close_fds::set_fds_cloexec_threadsafe(FIRST_NOT_STANDARD, &[]);
    let child = command.spawn().map_err(|error| {
        ToolFailure::new(
            ErrorCode::CommandFailed,
            format!("`{}` could not be started: {error}", program.display()),
        )
    })?;
    let mut tree = Tree::new(child);
    let (stdin, stdout, stderr) =
        (tree.child.stdin.take(), tree.child.stdout.take(), tree.child.stderr.take());
    let feed = async {
        if let Some(mut stdin) = stdin {
            // A program need not read its input.
            let _ = stdin.write_all(&input).await;
            let _ = stdin.shutdown().await;
        }
        Ok(())
    };
    let ((), stdout, stderr) = tokio::try_join!(feed, read_whole(stdout, stdout_max), read_end(stderr))?;
    let status = tree.child.wait().await.map_err(|error| {
        ToolFailure::new(ErrorCode::CommandFailed, format!("the command's end is not known: {error}"))
    })?;
    Ok(Ended { exit_code: status.code(), stdout, stderr })
}

async fn read_whole(pipe: Option<impl AsyncRead + Unpin>, max: u64) -> Result<Vec<u8>, ToolFailure> {
    let mut all = Vec::new();
    let Some(pipe) = pipe else { return Ok(all) };
    // A read error counts as the end.
    let _ = pipe.take(max.saturating_add(1)).read_to_end(&mut all).await;
    let observed = all.len() as u64;
    if observed <= max {
        return Ok(all);
    }
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    Err(ToolFailure::new(
        ErrorCode::ResultTooLarge,
        format!("the command wrote more than `stdout_max` of {max} bytes and was ended"),
    )
    .with_detail("limit", number(max))
    .with_detail("observed", number(observed)))
}

async fn read_end(pipe: Option<impl AsyncRead + Unpin>) -> Result<String, ToolFailure> {
    let mut end: Vec<u8> = Vec::new();
    let Some(mut pipe) = pipe else { return Ok(String::new()) };
    let mut chunk = [0; 4096];
    while let Ok(read @ 1..) = pipe.read(&mut chunk).await {
        end.extend_from_slice(chunk.get(..read).unwrap_or_default());
        let over = end.len().saturating_sub(STDERR_BYTES_MAX);
        end.drain(..over);
    }
    Ok(String::from_utf8_lossy(&end).trim_end().to_owned())
}
