//! Journals of every version stay readable, and their hashes are what the description says.

use std::path::Path;

use luaplan::journal::{JournalRead, RecordFilter, SqliteJournal};
use sqlx::Row as _;

use super::*;

const FOLDER: &str = "tests/golden/journal";

/// The hash, written from the description alone.
fn described_hash(previous_hash: &str, sequence: u64, version: u32, body: &str) -> String {
    let mut bytes = Vec::new();
    let fields: [&[u8]; 4] = [
        previous_hash.as_bytes(),
        &[sequence as u8, (sequence >> 8) as u8, 0, 0, 0, 0, 0, 0],
        &[version as u8, 0, 0, 0],
        body.as_bytes(),
    ];
    for field in fields {
        let length = field.len() as u64;
        bytes.extend((0..8).map(|place| (length >> (8 * place)) as u8));
        bytes.extend(field);
    }
    blake3::hash(&bytes).to_string()
}

/// Writes the newest golden journal. Run by hand, once for a new version:
/// `cargo test --test it write_the_golden -- --ignored`.
#[tokio::test]
#[ignore = "writes into the source tree"]
async fn write_the_golden_journal_of_this_version() {
    let path = Path::new(FOLDER).join("v1.sqlite");
    assert!(!path.exists(), "a golden journal is never replaced");
    let journal = SqliteJournal::open(&path).await.unwrap();
    fill(&journal).await;
    let lines: Vec<String> = journal
        .records(RecordFilter::default())
        .await
        .unwrap()
        .iter()
        .map(|record| serde_json::to_string(record).unwrap() + "\n")
        .collect();
    std::fs::write(path.with_extension("jsonl"), lines.concat()).unwrap();
    journal.close().await;
}

#[tokio::test]
async fn the_golden_journal_of_version_1_verifies_and_reads_the_same() {
    let dir = Dir::new();
    std::fs::create_dir_all(dir.path().parent().unwrap()).unwrap();
    for extension in ["sqlite", "head"] {
        let golden = Path::new(FOLDER).join("v1").with_extension(extension);
        std::fs::copy(golden, dir.path().with_extension(extension)).unwrap();
    }
    let journal = dir.open().await;
    let report = journal.verify().await.unwrap();
    assert!(report.ok, "{report:?}");
    let records = journal.records(RecordFilter::default()).await.unwrap();
    let lines = std::fs::read_to_string(Path::new(FOLDER).join("v1.jsonl")).unwrap();
    assert_eq!(records.len(), lines.lines().count());
    for (record, line) in records.iter().zip(lines.lines()) {
        assert_eq!(serde_json::to_string(record).unwrap(), line);
    }
    fill(&journal).await;
    assert_eq!(journal.verify().await.unwrap().records, 20);
}

#[tokio::test]
async fn hashes_can_be_checked_by_another_program_from_the_description() {
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    let rows = sqlx::query("SELECT sequence, version, body, previous_hash, hash FROM records")
        .fetch_all(&mut dir.raw().await)
        .await
        .unwrap();
    assert_eq!(rows.len(), 10);
    for row in rows {
        let (sequence, version): (u64, u32) = (row.get(0), row.get(1));
        assert_eq!(described_hash(row.get(3), sequence, version, row.get(2)), row.get::<String, _>(4));
    }
}
