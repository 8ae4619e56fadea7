//! Appending and asking.

use std::sync::Arc;

use luaplan::journal::{
    Durability, GENESIS_HASH, JournalRead, JournalWrite, MemoryJournal, Record, RecordFilter, RunFilter,
    RunStatus,
};

use super::places::places;
use super::*;

#[tokio::test]
async fn records_come_back_as_they_were_appended_each_tied_to_the_one_before() {
    for place in places("records that come back").await {
        let journal = place.open().await;
        fill(&journal).await;
        let records = journal.records(RecordFilter::default()).await.unwrap();
        let mut previous = GENESIS_HASH.to_owned();
        for (index, record) in records.iter().enumerate() {
            assert_eq!(record.sequence, index as u64 + 1);
            assert_eq!(record.previous_hash, previous);
            previous.clone_from(&record.hash);
        }
        assert_eq!(records.len(), 10);
        assert_eq!(records[0].event.body.name(), "run_started");
        assert_eq!(
            serde_json::to_value(&records[2].event).unwrap(),
            serde_json::to_value(event(1, 2, answered(1, "query_db", true))).unwrap()
        );
    }
}

#[tokio::test]
async fn every_filter_finds_on_disk_what_it_finds_in_memory() {
    for place in places("filters").await {
        let journal = place.open().await;
        fill(&journal).await;
        let memory = MemoryJournal::default();
        for record in journal.records(RecordFilter::default()).await.unwrap() {
            memory.append(record.event, Durability::Ordered).await.unwrap();
        }
        let at = |second| Some(event(1, second, finished()).at);
        let none = RecordFilter::default;
        let filters = [
            RecordFilter { run_id: Some(run_id(2)), ..none() },
            RecordFilter { run_id: Some(run_id(9)), ..none() },
            RecordFilter { tool: Some("query_db".into()), ..none() },
            RecordFilter { tool: Some("' OR 1=1 --".into()), ..none() },
            RecordFilter { events: vec!["run_started".into(), "printed".into()], ..none() },
            RecordFilter { ok: Some(true), ..none() },
            RecordFilter { ok: Some(false), ..none() },
            RecordFilter { since: at(4), until: at(8), ..none() },
            RecordFilter { after_sequence: Some(7), ..none() },
            RecordFilter { limit: Some(3), newest_first: true, ..none() },
            RecordFilter { run_id: Some(run_id(1)), ok: Some(false), limit: Some(1), ..none() },
        ];
        let sequences = |records: Vec<Record>| records.into_iter().map(|r| r.sequence).collect::<Vec<_>>();
        for filter in filters {
            let on_disk = sequences(journal.records(filter.clone()).await.unwrap());
            assert_eq!(on_disk, sequences(memory.records(filter.clone()).await.unwrap()), "{filter:?}");
        }
    }
}

#[tokio::test]
async fn runs_on_disk_are_the_runs_folded_in_memory() {
    for place in places("runs").await {
        let journal = place.open().await;
        fill(&journal).await;
        let memory = MemoryJournal::default();
        for record in journal.records(RecordFilter::default()).await.unwrap() {
            memory.append(record.event, Durability::Ordered).await.unwrap();
        }
        let filters = [
            RunFilter::default(),
            RunFilter { status: Some(RunStatus::Running), ..RunFilter::default() },
            RunFilter { status: Some(RunStatus::Succeeded), ..RunFilter::default() },
            RunFilter { status: Some(RunStatus::Failed), ..RunFilter::default() },
            RunFilter { limit: Some(1), ..RunFilter::default() },
            RunFilter { before: Some(run_id(2)), ..RunFilter::default() },
            RunFilter { before: Some(run_id(9)), ..RunFilter::default() },
        ];
        for filter in filters {
            let on_disk = journal.runs(filter.clone()).await.unwrap();
            assert_eq!(on_disk, memory.runs(filter.clone()).await.unwrap(), "{filter:?}");
        }
        let all = journal.runs(RunFilter::default()).await.unwrap();
        assert_eq!(all.iter().map(|run| run.tool_calls).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(journal.run_summary(&run_id(1)).await.unwrap().as_ref(), all.last());
        assert_eq!(journal.run_summary(&run_id(9)).await.unwrap(), None);
    }
}

#[tokio::test]
async fn appends_from_many_tasks_make_one_chain_and_lose_nothing() {
    for place in places("appends from many tasks").await {
        let journal = Arc::new(place.open().await);
        let tasks = (0..20u8).map(|task| {
            let journal = Arc::clone(&journal);
            tokio::spawn(async move {
                for second in 0..50 {
                    let durability = if second % 10 == 0 { Durability::Forced } else { Durability::Ordered };
                    let text = format!("{task} {second}");
                    let body = EventBody::Printed { text };
                    journal.append(event(task, second, body), durability).await.unwrap();
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        let report = journal.verify().await.unwrap();
        assert!(report.ok, "{report:?}");
        assert_eq!(report.records, 1000);
        for task in 0..20u8 {
            let filter = RecordFilter { run_id: Some(run_id(task)), ..RecordFilter::default() };
            let own = journal.records(filter).await.unwrap();
            let times: Vec<_> = own.iter().map(|record| record.event.at).collect();
            assert!(own.len() == 50 && times.is_sorted(), "each task's records are in its order");
        }
    }
}

#[tokio::test]
async fn the_log_refuses_changes_and_deletions_by_sql() {
    for place in places("a log that refuses changes").await {
        let journal = place.open().await;
        fill(&journal).await;
        for sql in ["UPDATE records SET ok = TRUE WHERE sequence = 7", "DELETE FROM records"] {
            let refused = place.refusal_of(sql).await;
            assert!(refused.contains("append-only"), "{refused}");
        }
        assert!(journal.verify().await.unwrap().ok);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn files_and_folder_are_for_this_user_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    let folder = dir.path().parent().unwrap().to_owned();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    let mut names = Vec::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        names.push(path.file_name().unwrap().to_str().unwrap().to_owned());
    }
    names.sort();
    assert_eq!(names, ["journal.head", "journal.sqlite", "journal.sqlite-shm", "journal.sqlite-wal"]);
}

#[tokio::test]
async fn a_closed_journal_keeps_what_was_appended_and_takes_no_more() {
    let dir = Dir::new();
    let journal = dir.open().await;
    fill(&journal).await;
    journal.close().await;
    let late = journal.append(event(1, 99, finished()), Durability::Ordered).await.unwrap_err();
    assert_eq!(late.code(), luaplan::base::ErrorCode::JournalUnavailable);
    assert!(!dir.path().with_extension("sqlite-wal").exists(), "closing folds the write-ahead log in");
    let again = dir.open().await;
    again.append(event(1, 100, finished()), Durability::Forced).await.unwrap();
    assert_eq!(again.verify().await.unwrap().records, 11);
}
