//! The journal in a database: the same records as in a file, and what only a database can suffer.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use luaplan::base::ErrorCode;
use luaplan::journal::{
    JournalRead as _, PostgresJournal, PostgresSettings, ProblemKind, RecordFilter, VerifyReport,
};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _};

use super::places::settings;
use super::*;
use crate::postgres_support::Database;

async fn open(database: &Database) -> PostgresJournal {
    PostgresJournal::open(&settings(database)).await.unwrap()
}

#[tokio::test]
async fn the_same_events_are_the_same_records_in_a_file_and_in_a_database() {
    let Some(database) = Database::new("records as in a file").await else { return };
    let (dir, shared) = (Dir::new(), open(&database).await);
    let file = dir.open().await;
    fill(&file).await;
    fill(&shared).await;
    let all = RecordFilter::default();
    let (ours, theirs) = (shared.records(all.clone()).await.unwrap(), file.records(all).await.unwrap());
    assert_eq!(serde_json::to_value(&ours).unwrap(), serde_json::to_value(&theirs).unwrap());
    assert_eq!(ours.len(), 10);
    let (ours, theirs) = (shared.verify().await.unwrap(), file.verify().await.unwrap());
    assert_eq!((ours.ok, ours.head_hash), (true, theirs.head_hash));
}

/// Fills a journal, runs `sql` on it past its triggers, verifies, and takes it all away again.
async fn after(database: &Database, sql: &str) -> VerifyReport {
    let journal = open(database).await;
    fill(&journal).await;
    let mut raw = database.raw().await;
    raw.execute("SET session_replication_role = replica").await.unwrap();
    raw.execute(sqlx::raw_sql(AssertSqlSafe(sql.to_owned()))).await.unwrap();
    let report = journal.verify().await.unwrap();
    journal.close().await;
    raw.execute("DROP SCHEMA luaplan CASCADE").await.unwrap();
    report
}

fn kinds(report: &VerifyReport) -> Vec<(Option<u64>, ProblemKind)> {
    report.problems.iter().map(|problem| (problem.sequence, problem.kind)).collect()
}

#[tokio::test]
async fn what_somebody_changed_in_the_database_is_found() {
    use ProblemKind::{
        ChainBroken, ColumnMismatch, Context, EndMissing, HashMismatch, RecordsMissing, Unprotected,
    };
    let changes = [
        (
            "UPDATE records SET body = replace(body, 'user1', 'user2') WHERE sequence = 3",
            Some(3),
            HashMismatch,
        ),
        ("UPDATE records SET tool = 'other' WHERE sequence = 3", Some(3), ColumnMismatch),
        ("UPDATE records SET ok = NULL WHERE sequence = 3", Some(3), ColumnMismatch),
        ("UPDATE records SET hash = upper(hash) WHERE sequence = 3", Some(4), ChainBroken),
        ("DELETE FROM records WHERE sequence = 4", Some(5), RecordsMissing),
        ("DELETE FROM records WHERE sequence > 8", Some(10), EndMissing),
        ("ALTER TABLE records DISABLE TRIGGER records_no_change", None, Unprotected),
        ("DROP TRIGGER records_no_change ON records", None, Unprotected),
        (
            "CREATE OR REPLACE TRIGGER records_no_change BEFORE DELETE ON records
             FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
            None,
            Unprotected,
        ),
        (
            "CREATE OR REPLACE TRIGGER records_no_change BEFORE UPDATE OF at OR DELETE OR TRUNCATE ON records
             FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
            None,
            Unprotected,
        ),
        (
            "CREATE OR REPLACE TRIGGER records_no_change BEFORE UPDATE OR DELETE OR TRUNCATE ON records
             FOR EACH STATEMENT WHEN (false) EXECUTE FUNCTION refuse_change()",
            None,
            Unprotected,
        ),
        (
            "CREATE OR REPLACE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS
             $$ BEGIN RETURN NULL; END $$",
            None,
            Unprotected,
        ),
        (
            "CREATE TRIGGER more AFTER INSERT ON records FOR EACH STATEMENT EXECUTE FUNCTION refuse_change()",
            None,
            Unprotected,
        ),
        (
            "INSERT INTO contexts VALUES ('daily', 1, '{\"n\":9}', 'no hash', '2026-01-01T00:00:00Z', NULL)",
            None,
            Context,
        ),
    ];
    let Some(database) = Database::new("tampering").await else { return };
    for (sql, sequence, kind) in changes {
        let report = after(&database, sql).await;
        assert!(!report.ok && kinds(&report).contains(&(sequence, kind)), "{sql}: {report:?}");
    }
    assert!(after(&database, "SELECT 1").await.ok);
}

#[tokio::test]
async fn a_database_that_lost_its_end_is_not_written_over() {
    let Some(database) = Database::new("a lost end").await else { return };
    let folder = tempfile::tempdir().unwrap();
    let with_anchor = PostgresSettings { anchors: Some(folder.path().to_owned()), ..settings(&database) };
    let journal = PostgresJournal::open(&with_anchor).await.unwrap();
    fill(&journal).await;
    journal.close().await;
    let mut raw = database.raw().await;
    raw.execute("SET session_replication_role = replica").await.unwrap();
    raw.execute("DELETE FROM records WHERE sequence > 8").await.unwrap();
    let refused = PostgresJournal::open(&settings(&database)).await.err().unwrap();
    assert_eq!(refused.code(), ErrorCode::JournalCorrupt);
    assert!(refused.message().contains("record 10"), "{refused}");

    // Whoever changes the database's own note as well does not reach the node's anchor.
    raw.execute("UPDATE head SET (sequence, hash) = (SELECT sequence, hash FROM records WHERE sequence = 8)")
        .await
        .unwrap();
    let refused = PostgresJournal::open(&with_anchor).await.err().unwrap();
    assert!(refused.message().contains("the anchor"), "{refused}");
    let reader = PostgresJournal::open_read_only(&with_anchor).await.unwrap().unwrap();
    let report = reader.verify().await.unwrap();
    assert!(kinds(&report).contains(&(Some(10), ProblemKind::EndMissing)), "{report:?}");
    assert_eq!(open(&database).await.records(RecordFilter::default()).await.unwrap().len(), 8);
}

#[tokio::test]
async fn newer_tables_and_newer_records_are_refused() {
    let Some(database) = Database::new("newer versions").await else { return };
    let journal = open(&database).await;
    fill(&journal).await;
    let mut raw = database.raw().await;
    raw.execute(
        "INSERT INTO records SELECT 11, 99, run_id, at, event, tool, call_id, ok, body, hash, hash \
         FROM records WHERE sequence = 10",
    )
    .await
    .unwrap();
    raw.execute(
        "UPDATE head SET (sequence, hash, version) = (SELECT 11, hash, 99 FROM records WHERE sequence = 11)",
    )
    .await
    .unwrap();
    let error = journal.append(event(1, 50, finished()), Durability::Forced).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::JournalNewerVersion);
    let error = journal.records(RecordFilter::default()).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::JournalNewerVersion);
    raw.execute("UPDATE about SET schema_version = 2").await.unwrap();
    for error in [
        PostgresJournal::open(&settings(&database)).await.err().unwrap(),
        PostgresJournal::open_read_only(&settings(&database)).await.err().unwrap(),
    ] {
        assert_eq!(error.code(), ErrorCode::JournalNewerVersion);
        assert_eq!((error.limit(), error.observed()), (Some(&json!(1)), Some(&json!(2))));
    }
}

#[tokio::test]
async fn a_journal_opened_to_read_writes_nothing_and_makes_nothing() {
    let Some(database) = Database::new("reading").await else { return };
    assert!(PostgresJournal::open_read_only(&settings(&database)).await.unwrap().is_none());
    fill(&open(&database).await).await;
    let reader = PostgresJournal::open_read_only(&settings(&database)).await.unwrap().unwrap();
    assert_eq!(reader.records(RecordFilter::default()).await.unwrap().len(), 10);
    let error = reader.append(event(1, 50, finished()), Durability::Ordered).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::JournalUnavailable);
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_told_without_the_password() {
    let url = "postgres://user1:pa55word@127.0.0.1:1/nothing";
    let settings = PostgresSettings {
        url: secrecy::SecretString::from(url),
        lease: super::places::LEASE,
        anchors: None,
    };
    let error = PostgresJournal::open(&settings).await.err().unwrap();
    assert_eq!(error.code(), ErrorCode::JournalUnavailable);
    let told = format!("{error:?} {} {settings:?}", error.help());
    assert!(told.contains("127.0.0.1:1/nothing") && !told.contains("pa55word"), "{told}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_that_are_cut_lose_nothing_and_write_nothing_twice() {
    const EACH: i64 = 25;
    const EACH_MAX: i64 = 2_000;
    const CUT: i64 = 5;
    let Some(database) = Database::new("connections that are cut").await else { return };
    let cut = Arc::new(AtomicI64::new(0));
    let journals: Vec<_> =
        futures::future::join_all((0..2).map(|_| open(&database))).await.into_iter().map(Arc::new).collect();
    let writing = Arc::new(AtomicBool::new(true));
    let tasks: Vec<_> = (0..6_u8)
        .map(|task| {
            let (journal, cut) = (Arc::clone(&journals[usize::from(task % 2)]), Arc::clone(&cut));
            tokio::spawn(async move {
                for second in 0..EACH_MAX {
                    // A busy machine may cut fewer while the first are written.
                    if second >= EACH && cut.load(Ordering::SeqCst) >= CUT {
                        return second;
                    }
                    let durability = if second % 3 == 0 { Durability::Forced } else { Durability::Ordered };
                    let text = format!("{task} {second}");
                    let body = EventBody::Printed { text };
                    journal.append(event(task, second, body), durability).await.unwrap();
                }
                EACH_MAX
            })
        })
        .collect();
    let still = Arc::clone(&writing);
    let cutting = async {
        // Ever longer pauses: on a machine that is busy a new connection may take longer than the first ones.
        let mut pause = std::time::Duration::from_millis(70);
        while still.load(Ordering::SeqCst) {
            cut.fetch_add(database.cut_connections().await, Ordering::SeqCst);
            tokio::time::sleep(pause).await;
            pause = pause * 5 / 4;
        }
    };
    let ((), written) = tokio::join!(cutting, async {
        let mut written = 0;
        for task in tasks {
            written += task.await.unwrap();
        }
        writing.store(false, Ordering::SeqCst);
        written
    });
    assert!(cut.load(Ordering::SeqCst) >= CUT, "only {cut:?} connections were cut");
    let journal = open(&database).await;
    let report = journal.verify().await.unwrap();
    assert!(report.ok, "{report:?}");
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    for record in journal.records(RecordFilter::default()).await.unwrap() {
        if let EventBody::Printed { text } = record.event.body {
            *seen.entry(text).or_default() += 1;
        }
    }
    assert_eq!(seen.len(), usize::try_from(written).unwrap());
    assert!(seen.values().all(|times| *times == 1), "{seen:?}");
}

#[tokio::test]
async fn a_node_that_stands_still_while_it_holds_the_log_does_not_stop_the_others() {
    let Some(database) = Database::new("a node that stands still").await else { return };
    let journal = open(&database).await;
    // As a process that was stopped in the middle of a transaction.
    let url = format!("{}?options[idle_in_transaction_session_timeout]=300", database.url());
    let mut stalled = sqlx::PgConnection::connect(&url).await.unwrap();
    stalled.execute("BEGIN; SELECT 1 FROM luaplan.head FOR UPDATE").await.unwrap();
    journal.append(event(1, 1, finished()), Durability::Forced).await.unwrap();
    assert!(stalled.execute("COMMIT").await.is_err());
}

/// Where a connection is cut: before a commit reaches the server, or before its answer comes back.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Cut {
    Commit,
    Answer,
}

/// Stands between a journal and its server, and cuts the connection of the next commit once it is told to.
async fn proxy(server: String, armed: Arc<std::sync::Mutex<Option<Cut>>>) -> u16 {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            let (server, armed) = (server.clone(), Arc::clone(&armed));
            tokio::spawn(async move {
                let mut server = tokio::net::TcpStream::connect(server).await.unwrap();
                let (mut asked, mut said) = (vec![0; 65_536], vec![0; 65_536]);
                loop {
                    tokio::select! {
                        read = client.read(&mut asked) => {
                            let Ok(count @ 1..) = read else { return };
                            let commits = asked[..count].windows(7).any(|text| text == b" COMMIT");
                            let cut = if commits { armed.lock().unwrap().take() } else { None };
                            if cut == Some(Cut::Commit) {
                                return;
                            }
                            server.write_all(&asked[..count]).await.unwrap();
                            if cut == Some(Cut::Answer) {
                                let _ = server.read(&mut said).await;
                                return;
                            }
                        }
                        read = server.read(&mut said) => {
                            let Ok(count @ 1..) = read else { return };
                            if client.write_all(&said[..count]).await.is_err() {
                                return;
                            }
                        }
                    }
                }
            });
        }
    });
    port
}

#[tokio::test]
async fn a_commit_that_is_cut_off_before_or_after_it_is_done_is_done_once() {
    let Some(database) = Database::new("a commit that is cut off").await else { return };
    let mut url = url::Url::parse(&database.url()).unwrap();
    let server = format!("{}:{}", url.host_str().unwrap(), url.port().unwrap_or(5432));
    let armed = Arc::new(std::sync::Mutex::new(None));
    let port = proxy(server, Arc::clone(&armed)).await;
    url.set_host(Some("127.0.0.1")).unwrap();
    url.set_port(Some(port)).unwrap();
    // The proxy reads along.
    url.set_query(Some("sslmode=disable"));
    let through =
        PostgresSettings { url: secrecy::SecretString::from(url.to_string()), ..settings(&database) };
    let journal = PostgresJournal::open(&through).await.unwrap();
    for (second, cut) in [(1, Cut::Answer), (2, Cut::Commit), (3, Cut::Answer)] {
        *armed.lock().unwrap() = Some(cut);
        let body = EventBody::Printed { text: format!("{second}") };
        let record = journal.append(event(1, second, body), Durability::Forced).await.unwrap();
        assert_eq!(record.sequence, second.unsigned_abs(), "{cut:?}");
        assert_eq!(*armed.lock().unwrap(), None, "{cut:?}: no commit was cut");
    }
    *armed.lock().unwrap() = Some(Cut::Answer);
    let unless = luaplan::journal::ConflictGuard {
        run_id: run_id(1),
        call_id: CallId::single(1),
        after_sequence: 0,
        by_events: &["run_finished"],
    };
    let settled = journal.settle(vec![event(1, 4, finished())], unless).await.unwrap();
    assert!(matches!(settled, luaplan::journal::Settled::Written(_)), "{settled:?}");
    assert_eq!(journal.records(RecordFilter::default()).await.unwrap().len(), 4);
    assert!(journal.verify().await.unwrap().ok);
}
