//! Reads our own files, and does not block where another kind of file took their place.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// Logins are a few kilobytes; what was accepted of a server with thousands of tools is a few megabytes.
const BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The text of a regular file. A pipe without a writer would let a plain open wait for ever.
pub(super) fn read_regular(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    let file = open_regular(OpenOptions::new().read(true), path)?;
    file.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MAX {
        let message = format!("it is longer than {BYTES_MAX} bytes, so luaplan did not write it");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(text)
}

/// Opens a file that is a regular one.
pub(super) fn open_regular(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use nix::fcntl::OFlag;
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags(OFlag::O_NONBLOCK.bits());
    }
    let file = options.open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"))
}
