//! Reads and writes files at places that were judged.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, fchmod, fstat, linkat, openat, renameat, unlinkat};
use rustix::io::Errno;

use super::open::{below, folder};
use super::{FileFault, Grounds, Place, Purpose};

/// Tells apart the files that calls of this process write before they get their names.
static UNNAMED: AtomicU64 = AtomicU64::new(0);

impl Grounds {
    /// Reads a whole file of at most `bytes_max` bytes.
    ///
    /// # Errors
    /// As [`FileFault`] lists them.
    pub fn read(&self, path: &str, bytes_max: u64) -> Result<Vec<u8>, FileFault> {
        let place = self.place(path, Purpose::Read)?;
        read_at(&place, bytes_max).map(|(bytes, _)| bytes)
    }

    /// Creates a file. Never overwrites: of two that create the same path, one is refused.
    ///
    /// # Errors
    /// As [`FileFault`] lists them.
    pub fn create(&self, path: &str, content: &[u8], bytes_max: u64) -> Result<(), FileFault> {
        let place = self.place(path, Purpose::Write)?;
        fits(&place, content, bytes_max)?;
        let around = parent(&place)?;
        let unnamed = Unnamed::write(&place, around, content, None)?;
        linkat(&unnamed.around, unnamed.name.as_str(), &unnamed.around, last(&place), AtFlags::empty())
            .map_err(|errno| told(&place, errno))?;
        unnamed.settle(&place)
    }

    /// Puts `content` in the place of a file that holds what has the BLAKE3 hash `seen`. The old or the new content is there
    /// whole whenever the process ends; the file keeps its permissions.
    ///
    /// # Errors
    /// As [`FileFault`] lists them; [`FileFault::Changed`] where the file holds something else.
    pub fn replace(
        &self,
        path: &str,
        content: &[u8],
        seen: &blake3::Hash,
        bytes_max: u64,
    ) -> Result<(), FileFault> {
        let place = self.place(path, Purpose::Write)?;
        fits(&place, content, bytes_max)?;
        let (_, mode) = read_at(&place, bytes_max)?;
        let around = parent(&place)?;
        let mut unnamed = Unnamed::write(&place, around, content, Some(mode))?;
        // Looked at last, so that as little time as can be passes between the look and the change.
        if blake3::hash(&read_at(&place, bytes_max)?.0) != *seen {
            return Err(FileFault::Changed { path: place.written });
        }
        renameat(&unnamed.around, unnamed.name.as_str(), &unnamed.around, last(&place))
            .map_err(|errno| told(&place, errno))?;
        unnamed.is_gone = true;
        unnamed.settle(&place)
    }
}

fn read_at(place: &Place, bytes_max: u64) -> Result<(Vec<u8>, Mode), FileFault> {
    let refused = |why: &str| FileFault::Refused { path: place.written.clone(), why: why.to_owned() };
    let top = folder(&place.folder).map_err(|errno| told(place, errno))?;
    // Without waiting for the other end of a pipe, and without taking a terminal.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
    let opened = below(top.as_fd(), &place.parts, flags).map_err(|errno| told(place, errno))?;
    let facts = fstat(&opened).map_err(|errno| told(place, errno))?;
    if FileType::from_raw_mode(facts.st_mode) != FileType::RegularFile {
        return Err(refused("it is no regular file"));
    }
    if facts.st_nlink > 1 {
        return Err(refused(
            "it has a second name (a hard link), which may lie in a place that is not allowed",
        ));
    }
    let too_large =
        |observed| FileFault::TooLarge { path: place.written.clone(), limit: bytes_max, observed };
    let size = u64::try_from(facts.st_size).unwrap_or(u64::MAX);
    if size > bytes_max {
        return Err(too_large(size));
    }
    let mut bytes = Vec::new();
    let most = bytes_max.saturating_add(1);
    File::from(opened)
        .take(most)
        .read_to_end(&mut bytes)
        .map_err(|error| FileFault::System { path: place.written.clone(), why: error.to_string() })?;
    if bytes.len() as u64 > bytes_max {
        return Err(too_large(bytes.len() as u64));
    }
    Ok((bytes, Mode::from_raw_mode(facts.st_mode)))
}

/// The folder a file is to lie in.
fn parent(place: &Place) -> Result<OwnedFd, FileFault> {
    let top = folder(&place.folder).map_err(|errno| told(place, errno))?;
    match place.parts.split_last() {
        Some((_, around)) if !around.is_empty() => {
            below(top.as_fd(), around, OFlags::RDONLY | OFlags::DIRECTORY).map_err(|errno| told(place, errno))
        }
        _ => Ok(top),
    }
}

fn last(place: &Place) -> &str {
    place.parts.last().map_or("", String::as_str)
}

fn fits(place: &Place, content: &[u8], bytes_max: u64) -> Result<(), FileFault> {
    let observed = content.len() as u64;
    if observed <= bytes_max {
        return Ok(());
    }
    Err(FileFault::TooLarge { path: place.written.clone(), limit: bytes_max, observed })
}

/// A file that is on the disk and has not got its name yet; removed when it is dropped.
struct Unnamed {
    around: OwnedFd,
    name: String,
    is_gone: bool,
}

impl Unnamed {
    fn write(place: &Place, around: OwnedFd, content: &[u8], mode: Option<Mode>) -> Result<Self, FileFault> {
        let number = UNNAMED.fetch_add(1, Ordering::Relaxed);
        let name = format!(".luaplan-{}-{number}.part", std::process::id());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = openat(&around, name.as_str(), flags, Mode::from_raw_mode(0o666))
            .map_err(|errno| told(place, errno))?;
        let unnamed = Self { around, name, is_gone: false };
        if let Some(mode) = mode {
            // Not the bits that let a program act as its owner.
            let kept = mode & (Mode::RWXU | Mode::RWXG | Mode::RWXO);
            fchmod(&opened, kept).map_err(|errno| told(place, errno))?;
        }
        let mut file = File::from(opened);
        let written = file.write_all(content).and_then(|()| file.sync_all());
        written.map_err(|error| FileFault::System { path: place.written.clone(), why: error.to_string() })?;
        Ok(unnamed)
    }

    /// Puts the change of the folder on the disk.
    fn settle(mut self, place: &Place) -> Result<(), FileFault> {
        self.remove();
        rustix::fs::fsync(&self.around).map_err(|errno| told(place, errno))
    }

    fn remove(&mut self) {
        if !self.is_gone {
            self.is_gone = unlinkat(&self.around, self.name.as_str(), AtFlags::empty()).is_ok();
        }
    }
}

impl Drop for Unnamed {
    fn drop(&mut self) {
        self.remove();
    }
}

fn told(place: &Place, errno: Errno) -> FileFault {
    let path = place.written.clone();
    match errno {
        Errno::NOENT => FileFault::NotFound { path },
        Errno::LOOP | Errno::XDEV | Errno::NOTDIR => {
            FileFault::Refused { path, why: "a part of it is a link or no folder".to_owned() }
        }
        Errno::EXIST => FileFault::Exists { path },
        other => FileFault::System { path, why: other.to_string() },
    }
}
