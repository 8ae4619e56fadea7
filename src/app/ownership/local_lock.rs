//! The lock files of the processes on one machine.
//!
//! Each process that runs plans makes one file under `owners` in the data folder and keeps it locked
//! for as long as it lives; the system lets go of the lock however the process ends. So a process that finds
//! a run without an end can tell whether its process lives. Locks are those of `flock`: they hold
//! between processes of one machine.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_journal::{RunState, RunStatus, create_private_folder};

use crate::config::Config;

/// The locks of this process and of others that share its data folder.
pub(crate) struct Owners {
    folder: PathBuf,
    mine: OnceLock<Mine>,
}

struct Mine {
    name: String,
    path: PathBuf,
    // Locked until it is closed.
    _lock: File,
}

/// The right to decide who resumes a run. Held for the moment it takes to look and to record it.
pub(crate) struct ResumeLock {
    _lock: File,
}

/// Whether the process of this machine that executed a run without an end is dead: it was killed. Of runs that nodes share it
/// says no, as any of them may take one up.
#[must_use]
pub fn has_lost_its_process(config: &Config, state: &RunState) -> bool {
    let is_open = config.journal.is_none() && state.status == RunStatus::Running;
    is_open && state.owner.as_ref().is_some_and(|owner| !Owners::new(&config.data_dir).is_alive(owner))
}

impl Owners {
    pub(crate) fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("owners"), mine: OnceLock::new() }
    }

    /// Where the locks are.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The name of this process, which it keeps locked from now on.
    ///
    /// # Errors
    /// `journal_unavailable` where the data folder cannot be written.
    pub(crate) fn mine(&self) -> Result<&str> {
        if let Some(mine) = self.mine.get() {
            return Ok(&mine.name);
        }
        let name = RunId::generate().to_string();
        let path = self.path(&name);
        let lock = self.make(&path).map_err(|error| self.failed(&error))?;
        lock.try_lock().map_err(|error| self.failed(&io::Error::from(error)))?;
        let mine = self.mine.get_or_init(|| Mine { name, path: path.clone(), _lock: lock });
        if mine.path != path {
            // Another thread was first.
            let _ = std::fs::remove_file(&path);
        }
        Ok(&mine.name)
    }

    /// Whether that is the name of this process.
    pub(crate) fn is_mine(&self, name: &str) -> bool {
        self.mine.get().is_some_and(|mine| mine.name == name)
    }

    /// Whether the process of that name lives. This one does.
    pub(crate) fn is_alive(&self, name: &str) -> bool {
        if self.is_mine(name) {
            return true;
        }
        // A name is a run id's form; anything else is not of this program.
        let Ok(id) = name.parse::<RunId>() else { return false };
        let path = self.path(id.as_str());
        let Ok(file) = OpenOptions::new().read(true).write(true).open(&path) else { return false };
        match file.try_lock() {
            Ok(()) => {
                // It died without taking its file away.
                let _ = std::fs::remove_file(&path);
                false
            }
            Err(TryLockError::WouldBlock) => true,
            Err(TryLockError::Error(error)) => {
                tracing::warn!(%error, path = %path.display(), "a lock could not be tried; its process counts as alive");
                true
            }
        }
    }

    /// Waits for the right to resume a run of this data folder. Blocks the thread.
    ///
    /// # Errors
    /// `journal_unavailable` where the folder of locks cannot be used.
    pub(crate) fn lock_resume(&self) -> Result<ResumeLock> {
        // Never taken away: who waits for a removed file would hold a lock of its own.
        let file = self.make(&self.folder.join("resume.lock")).map_err(|error| self.failed(&error))?;
        file.lock().map_err(|error| self.failed(&error))?;
        Ok(ResumeLock { _lock: file })
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.lock"))
    }

    fn make(&self, path: &Path) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        create_private_folder(&self.folder)?;
        options.open(path)
    }

    fn failed(&self, error: &io::Error) -> Error {
        Error::new(
            ErrorCode::JournalUnavailable,
            format!("the folder of locks `{}` cannot be used: {error}", self.folder.display()),
        )
    }
}

impl Drop for Owners {
    fn drop(&mut self) {
        if let Some(mine) = self.mine.get() {
            let _ = std::fs::remove_file(&mine.path);
        }
    }
}
