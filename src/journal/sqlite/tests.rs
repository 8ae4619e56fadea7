//! Cases that only this module can set up: a database that may not grow.

use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use sqlx::Executor as _;
use tokio::sync::{mpsc, oneshot};

use luaplan_base::{RunId, SeededRandomness, SpanId, TraceId};

use super::writer::{Append, Writer, WriterCommand};
use super::*;
use crate::chain::Row;
use crate::{EventBody, JournalRead as _, RecordFilter};

fn printed(text: String) -> Event {
    let randomness = SeededRandomness::new(1);
    Event {
        run_id: RunId::generate(),
        trace_id: TraceId::generate(&randomness),
        span_id: SpanId::generate(&randomness),
        at: Timestamp::UNIX_EPOCH,
        candidate: None,
        redacted: Vec::new(),
        body: EventBody::Printed { text },
    }
}

async fn append(queue: &mpsc::Sender<WriterCommand>, text: String) -> Result<Record> {
    let event = printed(text);
    let (reply, answer) = oneshot::channel();
    let rows = vec![Row::of(event).unwrap()];
    let command = WriterCommand::Append(Append { rows, durability: Durability::Forced, reply });
    assert!(queue.send(command).await.is_ok());
    answer.await.unwrap().map(|mut records| records.remove(0))
}

#[tokio::test]
async fn a_full_disk_refuses_the_append_keeps_the_chain_and_lets_the_next_one_try() {
    let folder = tempfile::tempdir().unwrap();
    let path: Arc<Path> = folder.path().join("journal.sqlite").into();
    let journal = SqliteJournal::open(&path).await.unwrap();
    let mut connection = connect(&options(&path), &path).await.unwrap();
    connection.execute("PRAGMA max_page_count = 40").await.unwrap();
    let (queue, commands) = mpsc::channel(8);
    tokio::spawn(Writer::new(connection, Arc::clone(&path)).run(commands));

    append(&queue, "fits".into()).await.unwrap();
    let error = append(&queue, "x".repeat(1_000_000)).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::JournalDiskFull);
    assert!(error.message().contains("journal.sqlite"), "{error}");
    append(&queue, "fits again".into()).await.unwrap();

    let report = journal.verify().await.unwrap();
    assert!(report.ok, "{report:?}");
    assert_eq!(journal.records(RecordFilter::default()).await.unwrap().len(), 2);
}
