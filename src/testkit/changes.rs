//! Finds the test files that a change affects.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use luaplan_base::ContentHash;

use super::runner::PASSED_OVER;

/// The extensions of files that tests depend on: plans and tests, fixtures and mocks, configuration.
const ENDINGS: [&str; 3] = ["lua", "json", "toml"];

/// Larger files are compared by size only.
const HASHED_BYTES_MAX: u64 = 16 << 20;

/// A snapshot of the files that tests depend on.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<PathBuf, ContentHash>);

/// The tests that a change affects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Affected {
    /// Every test: configuration changed.
    All,
    /// These test files; none where only plans without tests changed.
    Files(BTreeSet<PathBuf>),
}

impl Snapshot {
    /// A snapshot of the files below `roots`; a root may be a file, and need not exist.
    #[must_use]
    pub fn take(roots: &[PathBuf]) -> Self {
        let mut found = BTreeMap::new();
        for root in roots {
            collect(root, &mut found);
        }
        Self(found)
    }

    /// The files that are new, removed or different in `later`.
    #[must_use]
    pub fn changes(&self, later: &Self) -> Vec<PathBuf> {
        let paths: BTreeSet<&PathBuf> = self.0.keys().chain(later.0.keys()).collect();
        paths.into_iter().filter(|path| self.0.get(*path) != later.0.get(*path)).cloned().collect()
    }

    /// The test files that changes to `changed` affect: a plan affects its own test, a JSON file the tests of
    /// its folder.
    #[must_use]
    pub fn affected(&self, changed: &[PathBuf]) -> Affected {
        let mut files = BTreeSet::new();
        for path in changed {
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
            match path.extension().and_then(|ending| ending.to_str()) {
                Some("toml") => return Affected::All,
                Some("lua") if stem.ends_with("_test") => _ = files.insert(path.clone()),
                Some("lua") => _ = files.insert(path.with_file_name(format!("{stem}_test.lua"))),
                _ => files.extend(self.tests_in(path.parent())),
            }
        }
        files.retain(|path| self.0.contains_key(path));
        Affected::Files(files)
    }

    fn tests_in(&self, folder: Option<&Path>) -> Vec<PathBuf> {
        let is_test = |path: &&PathBuf| path.to_string_lossy().ends_with("_test.lua");
        self.0.keys().filter(|path| path.parent() == folder).filter(is_test).cloned().collect()
    }
}

/// Skips files that vanish meanwhile: their removal is a change of its own.
fn collect(path: &Path, found: &mut BTreeMap<PathBuf, ContentHash>) {
    let Ok(facts) = std::fs::metadata(path) else { return };
    if facts.is_file() {
        let has_ending =
            path.extension().and_then(|ending| ending.to_str()).is_some_and(|e| ENDINGS.contains(&e));
        if has_ending {
            let content = match facts.len() > HASHED_BYTES_MAX {
                true => Ok(facts.len().to_le_bytes().to_vec()),
                false => std::fs::read(path),
            };
            found.extend(content.ok().map(|content| (path.to_path_buf(), ContentHash::of(&content))));
        }
        return;
    }
    for entry in std::fs::read_dir(path).into_iter().flatten().flatten() {
        let path = entry.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let is_passed_over = name.starts_with('.') || PASSED_OVER.contains(&name);
        let is_linked_folder = path.is_symlink() && path.is_dir();
        if !is_linked_folder && !is_passed_over {
            collect(&path, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_concerns_the_tests_of_what_changed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().to_path_buf();
        let at = |name: &str| root.join(name);
        let write = |name: &str, text: &str| {
            std::fs::create_dir_all(at(name).parent().unwrap()).unwrap();
            std::fs::write(at(name), text).unwrap();
        };
        for name in
            ["a.lua", "a_test.lua", "b.lua", "sub/c.lua", "sub/c_test.lua", "sub/d_test.lua", "target/x.lua"]
        {
            write(name, "one");
        }
        let roots = [root.clone()];
        let step = |before: &Snapshot| {
            let after = Snapshot::take(&roots);
            let changed = before.changes(&after);
            let affected = after.affected(&changed);
            (after, changed, affected)
        };
        let files = |names: &[&str]| Affected::Files(names.iter().map(|name| at(name)).collect());
        let first = Snapshot::take(&roots);
        write("a.lua", "two");
        let (second, changed, affected) = step(&first);
        assert_eq!((changed, affected), (vec![at("a.lua")], files(&["a_test.lua"])));
        write("b.lua", "two");
        write("target/x.lua", "two");
        write("notes.txt", "two");
        let (third, changed, affected) = step(&second);
        assert_eq!((changed, affected), (vec![at("b.lua")], files(&[])));
        write("sub/e.fixture.json", "{}");
        let (fourth, _, affected) = step(&third);
        assert_eq!(affected, files(&["sub/c_test.lua", "sub/d_test.lua"]));
        std::fs::remove_file(at("sub/d_test.lua")).unwrap();
        std::fs::remove_file(at("sub/c.lua")).unwrap();
        let (fifth, changed, affected) = step(&fourth);
        assert_eq!((changed.len(), affected), (2, files(&["sub/c_test.lua"])));
        write("luaplan.toml", "");
        assert_eq!(step(&fifth).2, Affected::All);
        assert_eq!(Snapshot::take(&[at("absent")]), Snapshot::default());
    }
}
