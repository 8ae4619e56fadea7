//! One owner for each run: what the old one writes is refused.

use std::sync::Arc;

use luaplan::base::ErrorCode;
use luaplan::journal::{FencedWriter, JournalRead as _, PostgresJournal, RecordFilter, RunLease};
use sqlx::Executor as _;

use super::places::settings;
use super::*;
use crate::postgres_support::Database;

async fn open(database: &Database) -> Arc<PostgresJournal> {
    Arc::new(PostgresJournal::open(&settings(database)).await.unwrap())
}

async fn take(journal: &PostgresJournal, run: u8) -> luaplan::base::Result<Arc<RunLease>> {
    journal.leases().unwrap().acquire(&run_id(run)).await.map(Arc::new)
}

fn writer(journal: &Arc<PostgresJournal>, held: &Arc<RunLease>) -> FencedWriter {
    FencedWriter::new(Arc::clone(journal), Arc::clone(held))
}

fn printed(run: u8, text: &str) -> Event {
    event(run, 1, EventBody::Printed { text: text.into() })
}

async fn refusal(writer: &dyn JournalWrite, event: Event) -> ErrorCode {
    writer.append(event, Durability::Forced).await.unwrap_err().code()
}

#[tokio::test]
async fn a_run_has_one_owner_until_its_lease_runs_out_and_the_old_one_writes_nothing_more() {
    let Some(database) = Database::new("fences").await else { return };
    let (one, two) = (open(&database).await, open(&database).await);
    let first = take(&one, 1).await.unwrap();
    let old = writer(&one, &first);
    old.append(event(1, 0, started("x")), Durability::Forced).await.unwrap();
    assert_eq!(take(&two, 1).await.err().unwrap().code(), ErrorCode::RunActive);
    assert_eq!(take(&one, 1).await.err().unwrap().code(), ErrorCode::RunActive);
    // What shows no fence is refused as well while there is an owner.
    assert_eq!(refusal(&*two, printed(1, "unasked")).await, ErrorCode::RunTakenOver);

    database.let_leases_run_out().await;
    // Its lease has expired and no node claimed the run: it may continue.
    old.append(printed(1, "late"), Durability::Forced).await.unwrap();
    let second = take(&two, 1).await.unwrap();
    let new = writer(&two, &second);
    assert_eq!(refusal(&old, printed(1, "too late")).await, ErrorCode::RunTakenOver);
    new.append(printed(1, "mine"), Durability::Forced).await.unwrap();
    assert_eq!(refusal(&old, printed(1, "again")).await, ErrorCode::RunTakenOver);

    let texts: Vec<_> = one.records(RecordFilter::default()).await.unwrap();
    let texts: Vec<_> = texts.iter().map(|record| record.event.body.name()).collect();
    assert_eq!(texts, ["run_started", "printed", "printed"]);
    assert!(one.verify().await.unwrap().ok);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_that_take_a_run_up_one_gets_it() {
    let Some(database) = Database::new("many that take a run up").await else { return };
    let journals = futures::future::join_all((0..4).map(|_| open(&database))).await;
    drop(take(&journals[0], 1).await.unwrap());
    journals[0].append(printed(9, "another run"), Durability::Ordered).await.unwrap();
    database.let_leases_run_out().await;
    let takes = futures::future::join_all(journals[1..].iter().map(|journal| take(journal, 1))).await;
    assert_eq!(takes.iter().filter(|taken| taken.is_ok()).count(), 1);
    for refused in takes.iter().filter_map(|taken| taken.as_ref().err()) {
        assert_eq!(refused.code(), ErrorCode::RunActive);
    }
}

#[tokio::test]
async fn a_refused_append_takes_none_of_its_neighbours_with_it() {
    let Some(database) = Database::new("neighbours").await else { return };
    let (one, two) = (open(&database).await, open(&database).await);
    let (lost, kept) = (take(&one, 1).await.unwrap(), take(&one, 2).await.unwrap());
    let (lost, kept) = (writer(&one, &lost), writer(&one, &kept));
    database.let_leases_run_out().await;
    let _new = take(&two, 1).await.unwrap();
    // Handed over together, so that one transaction takes them.
    let appends = (0..20).map(|number| {
        let (writer, run): (&FencedWriter, u8) = if number % 2 == 0 { (&lost, 1) } else { (&kept, 2) };
        writer.append(printed(run, &number.to_string()), Durability::Ordered)
    });
    let answers = futures::future::join_all(appends).await;
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(answer.is_ok(), number % 2 == 1, "{number}: {answer:?}");
        if let Ok(record) = answer {
            assert_eq!(record.event.run_id, run_id(2));
        }
    }
    assert_eq!(one.records(RecordFilter::default()).await.unwrap().len(), 10);
    assert!(one.verify().await.unwrap().ok);
}

#[tokio::test]
async fn the_record_of_an_end_gives_the_run_back_with_it() {
    let Some(database) = Database::new("runs given back").await else { return };
    let (one, two) = (open(&database).await, open(&database).await);
    let paused = EventBody::RunPaused {
        reason: "r".into(),
        calls_in_doubt: Vec::new(),
        approvals: Vec::new(),
        questions: Vec::new(),
        answer_by: None,
        by: None,
        os_user: None,
    };
    let first = take(&one, 1).await.unwrap();
    let first = writer(&one, &first);
    first.append(event(1, 0, started("x")), Durability::Ordered).await.unwrap();
    first.append(event(1, 1, paused), Durability::Forced).await.unwrap();
    // Also to the process that had it, while its old writer is still around.
    let again = take(&one, 1).await.unwrap();
    assert_eq!(refusal(&first, printed(1, "old writer")).await, ErrorCode::RunTakenOver);
    let again_writer = writer(&one, &again);
    again_writer.append(event(1, 2, resumed(0)), Durability::Ordered).await.unwrap();
    assert_eq!(take(&two, 1).await.err().unwrap().code(), ErrorCode::RunActive);
    again_writer.append(event(1, 3, finished()), Durability::Forced).await.unwrap();
    assert!(two.leases().unwrap().open_runs(9).await.unwrap().is_empty());

    // A run given back without an end is there for all.
    let open_run = take(&one, 2).await.unwrap();
    writer(&one, &open_run).append(event(2, 0, started("y")), Durability::Ordered).await.unwrap();
    open_run.release(false).await.unwrap();
    let found = two.leases().unwrap().open_runs(9).await.unwrap();
    assert_eq!(found.iter().map(|run| &run.run_id).collect::<Vec<_>>(), [&run_id(2)]);
    take(&two, 2).await.unwrap().release(true).await.unwrap();
    assert!(one.leases().unwrap().open_runs(9).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_node_whose_records_the_database_lost_gives_its_runs_up() {
    let Some(database) = Database::new("lost records").await else { return };
    let journal = open(&database).await;
    let held = take(&journal, 1).await.unwrap();
    let old = writer(&journal, &held);
    for number in 0..4 {
        old.append(printed(1, &number.to_string()), Durability::Ordered).await.unwrap();
    }
    // As a server that crashed before it had written its own log.
    let mut raw = database.raw().await;
    raw.execute("SET session_replication_role = replica").await.unwrap();
    raw.execute("DELETE FROM records WHERE sequence > 2").await.unwrap();
    raw.execute("UPDATE head SET (sequence, hash) = (SELECT sequence, hash FROM records WHERE sequence = 2)")
        .await
        .unwrap();
    database.cut_connections().await;
    assert_eq!(refusal(&old, printed(1, "with a hole before it")).await, ErrorCode::RunTakenOver);
    assert_eq!(old.check_fence().await.unwrap_err().code(), ErrorCode::RunTakenOver);
    drop((old, held));
    // Any process can claim it from its records, this one included.
    let taken = async {
        for _ in 0..500 {
            if let Ok(held) = take(&journal, 1).await {
                return held;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        panic!("the run stayed with a node that is no more");
    };
    let held = taken.await;
    writer(&journal, &held).append(printed(1, "goes on"), Durability::Forced).await.unwrap();
    assert_eq!(journal.records(RecordFilter::default()).await.unwrap().len(), 3);
    assert!(journal.verify().await.unwrap().ok);
}

#[tokio::test]
async fn rows_of_nodes_long_gone_are_swept_and_nobody_is_worse_off() {
    let Some(database) = Database::new("nodes long gone").await else { return };
    let (one, two) = (open(&database).await, open(&database).await);
    let first = take(&one, 1).await.unwrap();
    let writer = writer(&one, &first);
    writer.append(event(1, 0, started("x")), Durability::Forced).await.unwrap();
    let mut raw = database.raw().await;
    raw.execute("UPDATE nodes SET expires_at = clock_timestamp() - interval '25 hours'").await.unwrap();
    raw.execute("INSERT INTO nodes VALUES ('short', clock_timestamp() - interval '23 hours')").await.unwrap();
    raw.execute("INSERT INTO nodes VALUES ('long', clock_timestamp() - interval '2 years')").await.unwrap();
    let node = two.leases().unwrap().node().await.unwrap();
    let mut left: Vec<String> =
        sqlx::query_scalar("SELECT node FROM nodes").fetch_all(&mut raw).await.unwrap();
    left.sort();
    let mut expected = vec![node.to_string(), "short".to_owned()];
    expected.sort();
    assert_eq!(left, expected);
    // Its row is gone and no node claimed its run: it may continue, and any node may claim it.
    writer.append(printed(1, "late"), Durability::Forced).await.unwrap();
    let second = take(&two, 1).await.unwrap();
    assert_eq!(refusal(&writer, printed(1, "too late")).await, ErrorCode::RunTakenOver);
    drop(second);
}
