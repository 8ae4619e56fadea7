//! Reading a file that the user named, whatever its type.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;

/// The largest file that is read.
const BYTES_MAX: u64 = 64 * 1024 * 1024;

/// A device that users name on purpose to give no text.
const NOTHING: &str = "/dev/null";

/// The text of a file. Refuses devices, pipes and endless files: reading them might never end, or use
/// all memory.
///
/// # Errors
/// As the system's; `InvalidInput` for what is no regular file, `FileTooLarge` above 64 MiB.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_bytes(path)?).map_err(|error| {
        let what = format!("it is no UTF-8 text (at byte {})", error.utf8_error().valid_up_to());
        io::Error::new(io::ErrorKind::InvalidData, what)
    })
}

/// The bytes of a file, as [`read_text`].
///
/// # Errors
/// As [`read_text`].
pub fn read_bytes(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    // The system's own words for a folder are better known.
    if !metadata.is_file() && !metadata.is_dir() && path != Path::new(NOTHING) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    read_to_end(File::open(path)?)
}

/// All bytes of a file or pipe that the user opened.
///
/// # Errors
/// As the system's; `FileTooLarge` above 64 MiB.
pub fn read_to_end(from: impl io::Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 64 MiB"));
    }
    Ok(bytes)
}
