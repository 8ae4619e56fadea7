//! Someone changes the file. Verifying says where.

use luaplan::journal::{ProblemKind, SqliteJournal, VerifyReport};
use sqlx::{AssertSqlSafe, Executor as _};

use super::*;

/// Fills a journal, runs `sql` on it past its triggers, and verifies.
async fn after(sql: &str) -> VerifyReport {
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    journal.close().await;
    let mut raw = dir.raw().await;
    let triggers: Vec<(String, String)> =
        sqlx::query_as("SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'")
            .fetch_all(&mut raw)
            .await
            .unwrap();
    for (name, _) in &triggers {
        raw.execute(AssertSqlSafe(format!("DROP TRIGGER {name}"))).await.unwrap();
    }
    raw.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.unwrap();
    for (_, trigger) in triggers {
        raw.execute(AssertSqlSafe(trigger)).await.unwrap();
    }
    raw.close().await.unwrap();
    SqliteJournal::open_read_only(&dir.path()).await.unwrap().verify().await.unwrap()
}

fn kinds(report: &VerifyReport) -> Vec<(Option<u64>, ProblemKind)> {
    report.problems.iter().map(|problem| (problem.sequence, problem.kind)).collect()
}

#[tokio::test]
async fn an_untouched_journal_verifies() {
    let report = after("SELECT 1").await;
    assert!(report.ok && report.problems.is_empty(), "{report:?}");
    assert_eq!(report.records, 10);
}

#[tokio::test]
async fn a_change_in_any_column_is_found_at_its_record() {
    use ProblemKind::{ChainBroken, ColumnMismatch, HashMismatch};
    let changes = [
        ("version = 0", HashMismatch),
        ("run_id = '01890a5d-ac96-774b-bcce-b302099a8002'", ColumnMismatch),
        ("at = '2023-11-14T22:13:22.000000001Z'", ColumnMismatch),
        ("event = 'tool_call_refused'", ColumnMismatch),
        ("tool = 'query_dB'", ColumnMismatch),
        ("tool = NULL", ColumnMismatch),
        ("call_id = '2'", ColumnMismatch),
        ("ok = 0", ColumnMismatch),
        ("ok = NULL", ColumnMismatch),
        ("body = replace(body, 'user1', 'user2')", HashMismatch),
        ("body = body || ' '", HashMismatch),
        ("body = ''", HashMismatch),
        ("previous_hash = replace(previous_hash, substr(previous_hash, 9, 1), 'z')", ChainBroken),
        ("hash = upper(hash)", HashMismatch),
    ];
    for (change, kind) in changes {
        let report = after(&format!("UPDATE records SET {change} WHERE sequence = 3")).await;
        assert!(!report.ok, "{change}");
        assert!(kinds(&report).contains(&(Some(3), kind)), "{change}: {report:?}");
    }
}

#[tokio::test]
async fn a_removed_record_is_found() {
    let report = after("DELETE FROM records WHERE sequence = 4").await;
    assert!(kinds(&report).contains(&(Some(5), ProblemKind::RecordsMissing)), "{report:?}");
    let report = after("DELETE FROM records WHERE sequence < 4").await;
    assert!(kinds(&report).contains(&(Some(4), ProblemKind::RecordsMissing)), "{report:?}");
    let closed_up = "DELETE FROM records WHERE sequence = 4;
                     UPDATE records SET sequence = sequence - 1 WHERE sequence > 4";
    let report = after(closed_up).await;
    assert!(kinds(&report).contains(&(Some(4), ProblemKind::ChainBroken)), "{report:?}");
}

#[tokio::test]
async fn a_record_put_in_is_found() {
    let sql = "UPDATE records SET sequence = sequence + 1000 WHERE sequence > 4;
               UPDATE records SET sequence = sequence - 999 WHERE sequence > 1000;
               INSERT INTO records SELECT 5, version, run_id, at, event, tool, call_id, ok, body,
                   previous_hash, hash FROM records WHERE sequence = 4";
    let report = after(sql).await;
    let found = kinds(&report);
    assert!(found.contains(&(Some(5), ProblemKind::ChainBroken)), "{report:?}");
    assert!(found.contains(&(Some(5), ProblemKind::HashMismatch)), "{report:?}");
    let report = after(
        "INSERT INTO records SELECT 0, version, run_id, at, event, tool, call_id, ok, body,
                        previous_hash, hash FROM records WHERE sequence = 4",
    )
    .await;
    assert!(kinds(&report).contains(&(Some(0), ProblemKind::RecordsMissing)), "{report:?}");
}

#[tokio::test]
async fn two_records_that_changed_places_are_found() {
    let sql = "UPDATE records SET sequence = 99 WHERE sequence = 4;
               UPDATE records SET sequence = 4 WHERE sequence = 5;
               UPDATE records SET sequence = 5 WHERE sequence = 99";
    let found = kinds(&after(sql).await);
    assert!(found.contains(&(Some(4), ProblemKind::HashMismatch)));
    assert!(found.contains(&(Some(5), ProblemKind::ChainBroken)));
}

#[tokio::test]
async fn a_cut_off_end_is_found_and_the_journal_is_not_written_over_it() {
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    journal.close().await;
    let mut raw = dir.raw().await;
    raw.execute("DROP TRIGGER records_no_delete").await.unwrap();
    raw.execute("DELETE FROM records WHERE sequence > 8").await.unwrap();
    raw.close().await.unwrap();
    let report = SqliteJournal::open_read_only(&dir.path()).await.unwrap().verify().await.unwrap();
    assert!(kinds(&report).contains(&(Some(10), ProblemKind::EndMissing)), "{report:?}");
    assert!(kinds(&report).contains(&(None, ProblemKind::Unprotected)), "{report:?}");

    let before = std::fs::read(dir.path()).unwrap();
    let refused = SqliteJournal::open(&dir.path()).await.err().unwrap();
    assert_eq!(refused.code(), luaplan::base::ErrorCode::JournalCorrupt);
    assert!(refused.message().contains("record 10"), "{refused}");
    assert_eq!(std::fs::read(dir.path()).unwrap(), before);
}

#[tokio::test]
async fn an_older_copy_of_the_file_is_found() {
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    journal.close().await;
    let older = std::fs::read(dir.path()).unwrap();
    let journal = dir.open().await;
    fill(&journal).await;
    journal.close().await;
    std::fs::write(dir.path(), older).unwrap();
    let report = SqliteJournal::open_read_only(&dir.path()).await.unwrap().verify().await.unwrap();
    assert_eq!(kinds(&report), [(Some(20), ProblemKind::EndMissing)]);
}

#[tokio::test]
async fn a_missing_or_damaged_anchor_is_told() {
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    let head = dir.path().with_extension("head");
    let line = std::fs::read_to_string(&head).unwrap();
    for damaged in ["nonsense", &line[..40], &format!("{line}{line}"), &line.replace(' ', "x")] {
        std::fs::write(&head, damaged).unwrap();
        let report = journal.verify().await.unwrap();
        assert_eq!(kinds(&report), [(None, ProblemKind::AnchorUnusable)], "{damaged:?}");
    }
    std::fs::write(&head, line.replace("00010 ", "00009 ")).unwrap();
    assert_eq!(kinds(&journal.verify().await.unwrap()), [(Some(9), ProblemKind::HashMismatch)]);
    std::fs::remove_file(&head).unwrap();
    assert_eq!(kinds(&journal.verify().await.unwrap()), [(None, ProblemKind::AnchorUnusable)]);
}

#[tokio::test]
async fn a_flipped_bit_anywhere_in_the_stored_records_is_found() {
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    journal.close().await;
    // What splitting pages left behind in their unused parts is not stored content.
    let mut raw = dir.raw().await;
    raw.execute("PRAGMA secure_delete = ON").await.unwrap();
    raw.execute("VACUUM").await.unwrap();
    raw.execute("PRAGMA wal_checkpoint(TRUNCATE)").await.unwrap();
    raw.close().await.unwrap();
    let whole = std::fs::read(dir.path()).unwrap();
    let rows: Vec<(String, String, String, String, String)> =
        sqlx::query_as("SELECT run_id, at, body, previous_hash, hash FROM records")
            .fetch_all(&mut dir.raw().await)
            .await
            .unwrap();
    let mut positions = std::collections::BTreeSet::new();
    for (run_id, at, body, previous_hash, hash) in &rows {
        for text in [run_id, at, body, previous_hash, hash] {
            let places = whole.windows(text.len()).enumerate();
            for (start, _) in places.filter(|(_, place)| *place == text.as_bytes()) {
                positions.extend(start..start + text.len());
            }
        }
    }
    assert!(positions.len() > 5_000, "{}", positions.len());
    let copy = Dir::new();
    std::fs::create_dir_all(copy.path().parent().unwrap()).unwrap();
    std::fs::copy(dir.path().with_extension("head"), copy.path().with_extension("head")).unwrap();
    for position in positions.into_iter().step_by(13) {
        let mut flipped = whole.clone();
        flipped[position] ^= 1 << (position % 8);
        std::fs::write(copy.path(), &flipped).unwrap();
        let found = match SqliteJournal::open_read_only(&copy.path()).await {
            Ok(journal) => {
                let found = journal.verify().await.map_or(true, |report| !report.ok);
                journal.close().await;
                found
            }
            Err(_) => true,
        };
        assert!(found, "byte {position}");
    }
}

#[tokio::test]
async fn a_trigger_of_the_right_name_that_refuses_nothing_is_found() {
    let refuses = "BEGIN SELECT RAISE(ABORT, 'the journal is append-only'); END";
    for (name, other) in [
        ("records_no_update", "BEFORE UPDATE ON records BEGIN SELECT 1; END".to_owned()),
        ("records_no_update", format!("BEFORE UPDATE ON records WHEN 0 {refuses}")),
        ("records_no_update", format!("BEFORE UPDATE OF at ON records {refuses}")),
        ("records_no_update", format!("BEFORE UPDATE ON contexts {refuses}")),
        ("records_no_delete", format!("BEFORE INSERT ON records WHEN new.tool = 'pay' {refuses}")),
        ("contexts_no_delete", "BEFORE DELETE ON contexts BEGIN SELECT RAISE(IGNORE); END".to_owned()),
        ("more", "AFTER INSERT ON records BEGIN SELECT 1; END".to_owned()),
    ] {
        let dir = Dir::new();
        let journal = dir.open().await;
        fill(&journal).await;
        journal.close().await;
        let mut raw = dir.raw().await;
        let sql = format!("DROP TRIGGER IF EXISTS {name}; CREATE TRIGGER {name} {other};");
        raw.execute(sqlx::raw_sql(AssertSqlSafe(sql.clone()))).await.unwrap();
        raw.close().await.unwrap();
        let report = SqliteJournal::open_read_only(&dir.path()).await.unwrap().verify().await.unwrap();
        assert_eq!(kinds(&report), [(None, ProblemKind::Unprotected)], "{sql}");
        assert!(!report.ok && report.problems[0].message.contains(name), "{report:?}");
    }
}
