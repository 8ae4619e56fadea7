//! Folders that only their owner may enter.

use std::io;
use std::path::Path;

/// Creates a folder, and those above it, where they are missing; only the user may enter the new ones. Existing
/// folders are not changed.
///
/// # Errors
/// Those of the system.
pub fn create_private_folder(folder: &Path) -> io::Result<()> {
    let mut builder = std::fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}
