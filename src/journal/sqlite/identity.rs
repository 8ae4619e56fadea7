//! Which file a path names: records written to a journal that was removed or replaced while it is open would be
//! lost.

use std::io;
use std::path::Path;

use luaplan_base::{Error, ErrorCode, Result};

/// The file that a path named when it was opened; `None` where the system has no identity of files.
pub(super) struct FileIdentity(Option<(u64, u64)>);

impl FileIdentity {
    pub(super) fn of(path: &Path) -> Self {
        Self(identity(path).ok().flatten())
    }

    /// # Errors
    /// `journal_unavailable` where another file or none is at `path` now.
    pub(super) fn is_still_at(&self, path: &Path) -> Result<()> {
        let Some(opened) = self.0 else { return Ok(()) };
        let gone = match identity(path) {
            Ok(now) if now.is_none_or(|now| now == opened) => return Ok(()),
            Ok(_) => "was replaced by another file while it was open",
            Err(error) if error.kind() == io::ErrorKind::NotFound => "was removed while it was open",
            // The write itself reports what is wrong.
            Err(_) => return Ok(()),
        };
        let shown = path.display();
        Err(Error::new(ErrorCode::JournalUnavailable, format!("the journal `{shown}` {gone}"))
            .with_help(format!("put `{shown}` and its companions (-wal, .head) back where that is possible, and start luaplan again"))
            .with_detail("path", shown.to_string()))
    }
}

#[cfg(unix)]
fn identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    use std::os::unix::fs::MetadataExt as _;
    let metadata = std::fs::metadata(path)?;
    Ok(Some((metadata.dev(), metadata.ino())))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> io::Result<Option<(u64, u64)>> {
    std::fs::metadata(path).map(|_| None)
}
