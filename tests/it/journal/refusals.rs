//! Files that cannot be a journal, or must not be written.

use luaplan::base::ErrorCode;
use luaplan::journal::{Durability, JournalRead, JournalWrite, RecordFilter, SqliteJournal};
use sqlx::Executor as _;

use super::*;

/// What opening says, after making sure that the file was left alone.
async fn refused(dir: &Dir) -> luaplan::base::Error {
    let before = std::fs::read(dir.path()).unwrap();
    let read_only = SqliteJournal::open_read_only(&dir.path()).await.err().unwrap();
    let error = SqliteJournal::open(&dir.path()).await.err().unwrap();
    assert_eq!(read_only.code(), error.code());
    assert_eq!(std::fs::read(dir.path()).unwrap(), before, "{error}");
    error
}

fn with_file(content: &[u8]) -> Dir {
    let dir = Dir::new();
    std::fs::create_dir_all(dir.path().parent().unwrap()).unwrap();
    std::fs::write(dir.path(), content).unwrap();
    dir
}

#[tokio::test]
async fn a_file_that_is_no_database_is_refused_as_corrupt() {
    let error = refused(&with_file(&b"this is a text file, not a database\n".repeat(50))).await;
    assert_eq!(error.code(), ErrorCode::JournalCorrupt);
    assert!(error.message().contains("journal.sqlite"), "{error}");
}

#[tokio::test]
async fn a_database_of_another_program_is_refused() {
    let dir = with_file(b"");
    let mut raw = dir.raw().await;
    raw.execute("CREATE TABLE bookmarks (url TEXT)").await.unwrap();
    raw.close().await.unwrap();
    let error = refused(&dir).await;
    assert_eq!(error.code(), ErrorCode::JournalCorrupt);
    assert!(error.message().contains("something else"), "{error}");
}

#[tokio::test]
async fn a_newer_schema_is_refused_and_left_alone() {
    let dir = Dir::new();
    dir.open().await.close().await;
    let mut raw = dir.raw().await;
    raw.execute("PRAGMA user_version = 2").await.unwrap();
    raw.close().await.unwrap();
    let error = refused(&dir).await;
    assert_eq!(error.code(), ErrorCode::JournalNewerVersion);
    assert_eq!((error.limit(), error.observed()), (Some(&json!(1)), Some(&json!(2))));
}

#[tokio::test]
async fn a_newer_record_stops_writing_and_reading() {
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    let mut raw = dir.raw().await;
    let newer = luaplan::journal::RECORD_VERSION + 1;
    let insert = format!(
        "INSERT INTO records SELECT 11, {newer}, run_id, at, event, tool, call_id, ok, body, hash, hash
         FROM records WHERE sequence = 10"
    );
    raw.execute(sqlx::AssertSqlSafe(insert)).await.unwrap();
    let error = journal.append(event(1, 50, finished()), Durability::Forced).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::JournalNewerVersion);
    let error = journal.records(RecordFilter::default()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::JournalNewerVersion);
    let report = journal.verify().await.unwrap();
    assert!(report.problems.iter().any(|p| p.kind == luaplan::journal::ProblemKind::NewerVersion));
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_told_with_its_path_and_a_way_out() {
    let dir = with_file(b"a file where a folder should be");
    let inside = dir.path().join("journal.sqlite");
    let error = SqliteJournal::open(&inside).await.err().unwrap();
    assert_eq!(error.code(), ErrorCode::JournalUnavailable);
    assert!(error.message().contains(inside.to_str().unwrap()), "{error}");
    assert!(error.help().contains("data_dir"), "{}", error.help());

    let folder = Dir::new();
    std::fs::create_dir_all(folder.path()).unwrap();
    let error = SqliteJournal::open(&folder.path()).await.err().unwrap();
    assert_eq!(error.code(), ErrorCode::JournalUnavailable);
}

#[cfg(unix)]
#[tokio::test]
async fn a_read_only_file_can_be_read_and_not_written() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    journal.close().await;
    let folder = dir.path().parent().unwrap().to_owned();
    let set = |mode| {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o400)).unwrap();
    set(0o500);
    if std::fs::File::create(folder.join("probe")).is_ok() {
        set(0o700);
        crate::support::say_skipped(
            "a_read_only_file_can_be_read_and_not_written because this user may write anything",
        );
        return;
    }
    let error = SqliteJournal::open(&dir.path()).await.err().unwrap();
    let reader = SqliteJournal::open_read_only(&dir.path()).await.unwrap();
    let report = reader.verify().await.unwrap();
    set(0o700);
    assert_eq!(error.code(), ErrorCode::JournalUnavailable);
    assert!(error.help().contains("writable"), "{}", error.help());
    assert!(report.ok && report.records == 10, "{report:?}");
}

#[tokio::test]
async fn a_journal_opened_to_read_takes_no_appends_and_a_missing_one_is_not_made() {
    let dir = Dir::new();
    let error = SqliteJournal::open_read_only(&dir.path()).await.err().unwrap();
    assert_eq!(error.code(), ErrorCode::JournalUnavailable);
    assert!(!dir.path().exists());
    let journal = dir.open().await;
    fill(&journal).await;
    let reader = SqliteJournal::open_read_only(&dir.path()).await.unwrap();
    assert_eq!(reader.records(RecordFilter::default()).await.unwrap().len(), 10);
    let error = reader.append(event(1, 50, finished()), Durability::Ordered).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::JournalUnavailable);
}

#[tokio::test]
async fn a_body_that_is_no_event_is_a_coded_error_when_read() {
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    let mut raw = dir.raw().await;
    raw.execute("DROP TRIGGER records_no_update").await.unwrap();
    raw.execute("UPDATE records SET body = '{\"event\":\"unheard_of\"}' WHERE sequence = 2").await.unwrap();
    let error = journal.records(RecordFilter::default()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::JournalCorrupt);
    assert!(error.message().contains("record 2"), "{error}");
}

#[tokio::test]
async fn a_start_that_broke_off_early_does_not_stand_in_the_way_of_the_next() {
    let dir = with_file(b"");
    std::fs::write(dir.path().with_extension("head"), b"").unwrap();
    let journal = dir.open().await;
    fill(&journal).await;
    assert!(journal.verify().await.unwrap().ok);
}

/// What a power cut may leave of the file: its last pages written in part.
#[tokio::test]
async fn a_torn_end_leaves_whole_records_or_is_refused_where_a_forced_one_is_gone() {
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    for second in 20..26 {
        let body = EventBody::Printed { text: "x".repeat(300) };
        journal.append(event(1, second, body), Durability::Ordered).await.unwrap();
    }
    let (file, wal) = (dir.path(), dir.path().with_extension("sqlite-wal"));
    let whole =
        [file.clone(), wal.clone(), file.with_extension("head")].map(|path| std::fs::read(path).unwrap());
    let (mut kept, mut refused) = (0, 0);
    for length in (0..=whole[1].len()).rev().step_by(2053) {
        let copy = Dir::new();
        std::fs::create_dir_all(copy.path().parent().unwrap()).unwrap();
        std::fs::write(copy.path(), &whole[0]).unwrap();
        std::fs::write(copy.path().with_extension("sqlite-wal"), &whole[1][..length]).unwrap();
        std::fs::write(copy.path().with_extension("head"), &whole[2]).unwrap();
        match SqliteJournal::open(&copy.path()).await {
            Ok(torn) => {
                let report = torn.verify().await.unwrap();
                assert!(report.ok && (10..=16).contains(&report.records), "{length}: {report:?}");
                torn.append(event(1, 50, finished()), Durability::Forced).await.unwrap();
                assert!(torn.verify().await.unwrap().ok, "{length}");
                torn.close().await;
                kept += 1;
            }
            Err(error) => {
                assert_eq!(error.code(), ErrorCode::JournalCorrupt, "{length}: {error}");
                refused += 1;
            }
        }
        if refused > 5 {
            break;
        }
    }
    assert!(kept > 5 && refused > 5, "kept {kept}, refused {refused}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_journal_that_was_removed_or_replaced_while_it_is_open_takes_no_records() {
    let dir = Dir::new();
    let journal = SqliteJournal::open(&dir.path()).await.unwrap();
    journal.append(event(1, 1, finished()), Durability::Forced).await.unwrap();
    let aside = dir.path().with_extension("aside");
    std::fs::rename(dir.path(), &aside).unwrap();
    let refused = async |what: &str| {
        for durability in [Durability::Queued, Durability::Forced] {
            let error = journal.append(event(1, 2, finished()), durability).await.unwrap_err();
            assert_eq!(error.code(), ErrorCode::JournalUnavailable);
            assert!(error.message().contains(what), "{error}");
        }
    };
    refused("was removed").await;
    std::fs::copy(&aside, dir.path()).unwrap();
    refused("was replaced").await;
    // Put back, it works as before.
    std::fs::rename(&aside, dir.path()).unwrap();
    journal.append(event(1, 2, finished()), Durability::Forced).await.unwrap();
    assert!(journal.verify().await.unwrap().ok);
    journal.close().await;
}
