//! Which paths may be opened, by their text alone.

use std::path::{Component, Path, PathBuf};

use super::FileFault;

/// What is blocked where the operator names nothing else.
pub const BLOCKED_BY_DEFAULT: [&str; 7] = ["~/.ssh", "~/.gnupg", "~/.aws", "/etc", "/usr", "/var", ".env"];

/// Blocked whatever is configured: files here are doors to processes, devices and the kernel.
const ALWAYS_BLOCKED: [&str; 3] = ["/proc", "/sys", "/dev"];

/// Never written below: git runs programs that files in this folder name.
const NEVER_WRITTEN: &str = ".git";

const PATH_BYTES_MAX: usize = 4096;
const PARTS_MAX: usize = 64;

/// What a path is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To read it.
    Read,
    /// To create or replace it.
    Write,
}

/// The rules as the operator writes them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroundRules {
    /// Absolute folders; without one nothing is allowed.
    pub allow: Vec<PathBuf>,
    /// Whether files may be written.
    pub allow_write: bool,
    /// What is blocked: an absolute path with all below it; or `~/a/b` or `a/b`, which blocks these names after one another
    /// wherever they stand, so that it holds for the home folder of every user.
    pub block: Vec<String>,
}

/// The rules, ready to judge.
#[derive(Debug)]
pub struct Grounds {
    folders: Vec<Folder>,
    allow_write: bool,
    blocked_below: Vec<Vec<String>>,
    blocked_names: Vec<Vec<String>>,
}

/// An allowed folder, by the name the operator wrote and by its own.
#[derive(Debug)]
struct Folder {
    written: PathBuf,
    real: PathBuf,
}

/// A path that was judged: names below an allowed folder, without `.`, `..` or an empty one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    pub(super) folder: PathBuf,
    pub(super) parts: Vec<String>,
    pub(super) written: String,
}

impl Place {
    /// The whole path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.parts.iter().fold(self.folder.clone(), |path, part| path.join(part))
    }
}

impl Grounds {
    /// Reads the rules. A folder is known by its own path from now on: a link in its place later is not followed.
    ///
    /// # Errors
    /// The folder that is not absolute, that is not there, or the block that names nothing; with why, for people.
    pub fn new(rules: &GroundRules) -> Result<Self, String> {
        let folders = rules.allow.iter().map(|written| {
            let told = |why: &str| format!("`{}` {why}", written.display());
            if !written.is_absolute() {
                return Err(told("is not absolute"));
            }
            let real = written.canonicalize().map_err(|error| told(&error.to_string()))?;
            if real.is_dir() {
                Ok(Folder { written: written.clone(), real })
            } else {
                Err(told("is no folder"))
            }
        });
        let folders = folders.collect::<Result<Vec<_>, _>>()?;
        let (mut blocked_below, mut blocked_names) = (Vec::new(), Vec::new());
        for block in rules.block.iter().map(String::as_str).chain(ALWAYS_BLOCKED) {
            let names = folded(Path::new(block.strip_prefix("~/").unwrap_or(block)));
            if names.is_empty() {
                return Err(format!("`{block}` names nothing to block"));
            }
            if Path::new(block).is_absolute() {
                // Also by its own path, as `/etc` may be a link.
                blocked_below.extend(Path::new(block).canonicalize().ok().map(|real| folded(&real)));
                blocked_below.push(names);
            } else {
                blocked_names.push(names);
            }
        }
        Ok(Self { folders, allow_write: rules.allow_write, blocked_below, blocked_names })
    }

    /// Finds the place of a path. A relative one starts from the first allowed folder.
    ///
    /// # Errors
    /// [`FileFault::Refused`], which tells nothing of what is on the disk.
    pub fn place(&self, written: &str, purpose: Purpose) -> Result<Place, FileFault> {
        let refused = |why: &str| FileFault::Refused { path: shown(written), why: why.to_owned() };
        if self.folders.is_empty() {
            return Err(refused("no folder is allowed"));
        }
        if purpose == Purpose::Write && !self.allow_write {
            return Err(refused("writing is not allowed"));
        }
        if written.is_empty() || written.len() > PATH_BYTES_MAX {
            return Err(refused("a path has 1 to 4096 bytes"));
        }
        if written.chars().any(|c| c.is_control() || is_unseen(c)) {
            return Err(refused("it has a character that is not seen"));
        }
        if written == "~" || written.starts_with("~/") {
            return Err(refused("`~` is not expanded"));
        }
        let path = Path::new(written);
        if path.components().any(|part| part == Component::ParentDir) {
            return Err(refused("`..` is not followed"));
        }
        let (folder, below) = self.split(path).ok_or_else(|| refused("it is in no allowed folder"))?;
        let parts: Vec<String> = names(below).collect();
        if parts.is_empty() || written.ends_with('/') {
            return Err(refused("it names a folder"));
        }
        if parts.len() > PARTS_MAX {
            return Err(refused("it is deeper than 64 folders"));
        }
        let place = Place { folder: folder.real.clone(), parts, written: written.to_owned() };
        // By both names of the folder: the operator may mean either with a block.
        for whole in [place.path(), folder.written.join(below)] {
            self.judge(&folded(&whole), purpose).map_err(|why| refused(&why))?;
        }
        Ok(place)
    }

    fn split<'p>(&self, path: &'p Path) -> Option<(&Folder, &'p Path)> {
        if path.is_relative() {
            return self.folders.first().map(|folder| (folder, path));
        }
        self.folders.iter().find_map(|folder| {
            let below =
                path.strip_prefix(&folder.written).or_else(|_| path.strip_prefix(&folder.real)).ok()?;
            Some((folder, below))
        })
    }

    fn judge(&self, whole: &[String], purpose: Purpose) -> Result<(), String> {
        let below = self.blocked_below.iter().find(|block| whole.starts_with(block));
        let named =
            self.blocked_names.iter().find(|block| whole.windows(block.len()).any(|run| run == **block));
        if let Some(block) = below.or(named) {
            return Err(format!("`{}` is blocked", block.join("/")));
        }
        if purpose == Purpose::Write && whole.iter().any(|name| name == NEVER_WRITTEN) {
            return Err("`.git` is not written".to_owned());
        }
        Ok(())
    }
}

fn names(path: &Path) -> impl Iterator<Item = String> + '_ {
    path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    })
}

/// The names of a path as a file system may compare them that knows no case, or no dots and spaces at the end of a name.
fn folded(path: &Path) -> Vec<String> {
    // By way of upper case, as `ſ` and `s` have one upper case, and two lower cases.
    let fold = |name: String| name.to_uppercase().to_lowercase().trim_end_matches(['.', ' ']).to_owned();
    names(path).map(fold).collect()
}

/// Characters that some file systems leave out when they compare names, and that a reader does not see.
fn is_unseen(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

fn shown(written: &str) -> String {
    written.chars().take(200).flat_map(char::escape_debug).collect()
}
