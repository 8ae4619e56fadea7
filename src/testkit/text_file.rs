//! Reading what lies in a folder of tests, whatever it is.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// The most one plan, test, fixture or mock file may have.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The text of a file. Devices, pipes and files without an end are refused: reading them could take
/// for ever, or all memory.
///
/// # Errors
/// As the system's; `InvalidInput` for what is no regular file, `FileTooLarge` above 64 MiB.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut text = String::new();
    File::open(path)?.take(BYTES_MAX + 1).read_to_string(&mut text)?;
    if text.len() as u64 > BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 64 MiB"));
    }
    Ok(text)
}
