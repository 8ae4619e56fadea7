//! Reading a file of ours without being held up by what was put in its place.

use std::fs::{File, OpenOptions};
use std::io::{self, Read as _};
use std::path::Path;

/// The text of a regular file. A pipe without a writer would let a plain open wait for ever.
pub(super) fn read_regular(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    open_regular(OpenOptions::new().read(true), path)?.read_to_string(&mut text)?;
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
