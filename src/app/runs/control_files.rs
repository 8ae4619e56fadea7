//! The files by which processes of one machine ask something of each other's runs.
//!
//! A caller in another process that wants a run to end or to pause leaves a file in the folder `asks` beside the locks. The
//! process that executes the run looks there, and takes the file away.

use std::path::{Path, PathBuf};

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_journal::{Actor, create_private_folder};

/// What may be asked of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ControlKind {
    /// To end.
    Cancel,
    /// To pause.
    Pause,
}

impl ControlKind {
    const ALL: [Self; 2] = [Self::Cancel, Self::Pause];

    const fn extension(self) -> &'static str {
        match self {
            Self::Cancel => "cancel",
            Self::Pause => "pause",
        }
    }
}

/// What was asked of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct ControlRequests {
    pub(crate) cancel: bool,
    pub(crate) pause: bool,
    /// The caller that asked for its end, else the one that asked it to pause.
    pub(crate) by: Option<Actor>,
}

/// The folder of the files.
#[derive(Clone)]
pub(crate) struct ControlFiles(PathBuf);

/// A file that a caller left.
pub(crate) struct ControlFile {
    pub(crate) run_id: RunId,
    pub(crate) kind: ControlKind,
    path: PathBuf,
}

impl ControlFile {
    /// The caller that left it, where it says so.
    pub(crate) fn by(&self) -> Option<Actor> {
        requester(&self.path)
    }

    /// Takes it away once it was acted on; a second look would do no harm.
    pub(crate) fn remove(&self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

impl ControlFiles {
    /// Those beside the folder of the locks.
    pub(crate) fn beside(owners: &Path) -> Self {
        Self(owners.join("asks"))
    }

    /// Asks the process that executes the run.
    ///
    /// # Errors
    /// `journal_unavailable` where the folder cannot be written.
    pub(crate) fn write(&self, run_id: &RunId, kind: ControlKind, by: Option<&Actor>) -> Result<()> {
        let path = self.path(run_id, kind);
        let said = by.and_then(|by| serde_json::to_vec(by).ok()).unwrap_or_default();
        // Put there whole, as it is read as soon as it is there.
        let written = create_private_folder(&self.0).and_then(|()| {
            let unfinished = path.with_extension(format!("{}-unfinished", kind.extension()));
            std::fs::write(&unfinished, said)?;
            std::fs::rename(unfinished, &path)
        });
        written.map_err(|error| {
            Error::new(
                ErrorCode::JournalUnavailable,
                format!("`{}` cannot be written: {error}", path.display()),
            )
        })
    }

    /// Takes back what was asked and no process acted on; says whether its end was, and who asked for that.
    pub(crate) fn take_back(&self, run_id: &RunId) -> ControlRequests {
        let by = requester(&self.path(run_id, ControlKind::Cancel));
        // Most of the time there is none; one that was acted on is gone.
        let [cancel, pause] =
            ControlKind::ALL.map(|kind| std::fs::remove_file(self.path(run_id, kind)).is_ok());
        ControlRequests { cancel, pause, by }
    }

    /// What lies in the folder. Most of the time there is none.
    pub(crate) fn all(&self) -> Vec<ControlFile> {
        let Ok(entries) = std::fs::read_dir(&self.0) else { return Vec::new() };
        let read = |path: PathBuf| {
            let run_id = path.file_stem()?.to_str()?.parse().ok()?;
            let extension = path.extension()?.to_str()?;
            let kind = ControlKind::ALL.into_iter().find(|kind| kind.extension() == extension)?;
            Some(ControlFile { run_id, kind, path })
        };
        let files = entries
            .filter_map(std::result::Result::ok)
            .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_dir()));
        files.filter_map(|entry| read(entry.path())).collect()
    }

    fn path(&self, run_id: &RunId, kind: ControlKind) -> PathBuf {
        self.0.join(run_id.as_str()).with_extension(kind.extension())
    }
}

fn requester(path: &Path) -> Option<Actor> {
    serde_json::from_slice(&std::fs::read(path).ok()?).ok()
}
