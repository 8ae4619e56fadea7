//! The anchor: a small file beside the log that names a record the log is known to hold.
//!
//! A hash chain detects what was changed in or removed from the middle, but a truncated log or an
//! older copy of it still verifies. So each forced commit writes the position and hash of the newest
//! record to `NAME.head`: one line of fixed length, the sequence as twenty
//! digits, a space, the hash, a line feed.
//!
//! The line is overwritten in place and never truncated. It lies within one disk sector, so a power
//! cut leaves the old line or the new one; the write needs no flush and no free space. A lock on the
//! file keeps several processes from moving it back.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

const LINE_BYTES: usize = 20 + 1 + 64 + 1;

/// Position and hash of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Anchor {
    pub(super) sequence: u64,
    pub(super) hash: String,
}

/// The anchor's path beside the log at `path`.
pub(super) fn anchor_path(path: &Path) -> PathBuf {
    path.with_extension("head")
}

/// What the anchor says; `None` where the file is missing or nothing was ever written to it.
///
/// # Errors
/// Any failure to read it; `InvalidData` where it holds something else.
pub(super) fn read(path: &Path) -> io::Result<Option<Anchor>> {
    let mut file = match File::open(anchor_path(path)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    file.lock_shared()?;
    if file.metadata()?.len() == 0 {
        return Ok(None);
    }
    read_line(&mut file).map(Some)
}

/// Moves the anchor forward to `anchor`; never back.
pub(super) fn advance(path: &Path, anchor: &Anchor) -> io::Result<()> {
    let mut file = open_private(&anchor_path(path))?;
    file.lock()?;
    if file.metadata()?.len() != 0 && read_line(&mut file)?.sequence >= anchor.sequence {
        return Ok(());
    }
    file.seek(SeekFrom::Start(0))?;
    file.write_all(format!("{:020} {}\n", anchor.sequence, anchor.hash).as_bytes())
}

fn read_line(file: &mut File) -> io::Result<Anchor> {
    let damaged = || io::Error::new(io::ErrorKind::InvalidData, "it does not hold a position and a hash");
    let mut line = Vec::with_capacity(LINE_BYTES + 1);
    file.take(LINE_BYTES as u64 + 1).read_to_end(&mut line)?;
    let line = std::str::from_utf8(&line).map_err(|_| damaged())?;
    let (sequence, hash) =
        line.strip_suffix('\n').and_then(|line| line.split_once(' ')).ok_or_else(damaged)?;
    if line.len() != LINE_BYTES || hash.len() != 64 || !hash.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(damaged());
    }
    let sequence = sequence.parse().map_err(|_| damaged())?;
    Ok(Anchor { sequence, hash: hash.to_owned() })
}

/// Opens or creates a file that only this user can read.
pub(super) fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
