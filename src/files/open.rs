//! Opens what lies below a folder, and follows no link on the way.

use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

/// The folder itself. Its path is the operator's; its last part is no link.
pub(super) fn folder(path: &Path) -> Result<OwnedFd, Errno> {
    openat(CWD, path, OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}

/// A file or folder below `folder`. The kernel keeps to the folder where it can (`openat2`); else each part is opened by
/// itself, which gives the same, as neither a link nor `..` is followed.
pub(super) fn below(folder: BorrowedFd<'_>, parts: &[String], flags: OFlags) -> Result<OwnedFd, Errno> {
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::{ResolveFlags, openat2};
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let opened = openat2(
            folder,
            parts.join("/"),
            flags | OFlags::NOFOLLOW | OFlags::CLOEXEC,
            Mode::empty(),
            resolve,
        );
        // Refused by a kernel before 5.6, or by a container's filter of system calls.
        if !matches!(opened, Err(Errno::NOSYS | Errno::PERM)) {
            return opened;
        }
    }
    part_by_part(folder, parts, flags)
}

/// As [`below`], without `openat2`.
pub(super) fn part_by_part(
    folder: BorrowedFd<'_>,
    parts: &[String],
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let Some((last, around)) = parts.split_last() else { return Err(Errno::INVAL) };
    let mut inner: Option<OwnedFd> = None;
    for name in around {
        let at = inner.as_ref().map_or(folder, AsFd::as_fd);
        let step = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        inner = Some(openat(at, name.as_str(), step, Mode::empty())?);
    }
    let at = inner.as_ref().map_or(folder, AsFd::as_fd);
    openat(at, last.as_str(), flags | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty())
}
