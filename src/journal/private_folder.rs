//! Folders for their owner's eyes alone.

use std::io;
use std::path::Path;

/// Makes a folder, and those above it, where they are missing: nobody else may enter what is made. What is there
/// stays as it is.
///
/// # Errors
/// As the system's.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
