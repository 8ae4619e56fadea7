//! A journal file with any bytes changed: it is read, or said to be damaged, and a changed record
//! never passes for the one that was written.
#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use luaplan::journal::{JournalRead as _, RecordFilter, SqliteJournal};

const GOLDEN: &[u8] = include_bytes!("../../golden/journal/v1.sqlite");
const GOLDEN_ANCHOR: &[u8] = include_bytes!("../../golden/journal/v1.head");

#[derive(Debug, Arbitrary)]
struct Damage {
    changes: Vec<(u32, u8)>,
    cut_to: Option<u32>,
    anchor: Option<Vec<u8>>,
}

struct Place {
    runtime: tokio::runtime::Runtime,
    folder: tempfile::TempDir,
    original: Vec<String>,
}

impl Place {
    fn path(&self) -> PathBuf {
        self.folder.path().join("journal.sqlite")
    }

    fn put(&self, database: &[u8], anchor: &[u8]) {
        for entry in std::fs::read_dir(self.folder.path()).expect("the folder") {
            std::fs::remove_file(entry.expect("an entry").path()).expect("removing it");
        }
        std::fs::write(self.path(), database).expect("writing the journal");
        std::fs::write(self.folder.path().join("journal.head"), anchor).expect("writing the anchor");
    }

    /// Whether verifying finds nothing wrong, and the bodies that are read.
    fn look(&self) -> Option<(bool, Vec<String>)> {
        self.runtime.block_on(async {
            let journal = SqliteJournal::open_read_only(&self.path()).await.ok()?;
            let report = journal.verify().await;
            let records = journal.records(RecordFilter::default()).await;
            journal.close().await;
            let bodies =
                records.ok()?.iter().map(|record| serde_json::to_string(record).expect("JSON")).collect();
            Some((report.ok()?.ok, bodies))
        })
    }
}

static PLACE: LazyLock<Place> = LazyLock::new(|| {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a folder");
    let mut place = Place { runtime, folder, original: Vec::new() };
    place.put(GOLDEN, GOLDEN_ANCHOR);
    let (is_whole, original) = place.look().expect("the golden journal can be read");
    assert!(is_whole && !original.is_empty());
    place.original = original;
    place
});

fuzz_target!(|damage: Damage| {
    let mut database = GOLDEN.to_vec();
    for (place, byte) in damage.changes.iter().take(64) {
        let place = *place as usize % database.len();
        database[place] = *byte;
    }
    if let Some(length) = damage.cut_to {
        database.truncate(length as usize % (GOLDEN.len() + 1));
    }
    let place = &*PLACE;
    place.put(&database, damage.anchor.as_deref().unwrap_or(GOLDEN_ANCHOR));
    if let Some((true, bodies)) = place.look() {
        assert_eq!(bodies, place.original, "a changed journal passes for whole");
    }
});
