//! A process that writes a journal others write as well.

use std::path::Path;

use jiff::Timestamp;
use luaplan::base::{RunId, SeededRandomness, SpanId, TraceId};
use luaplan::journal::{Durability, Event, EventBody, JournalWrite as _, SqliteJournal};

use crate::say;

/// Appends `times` records and says the number each was given.
pub(crate) async fn child(file: &Path, run_id: RunId, times: i64) {
    let journal = SqliteJournal::open(file).await.unwrap();
    let randomness = SeededRandomness::new(1);
    for second in 0..times {
        let event = Event {
            run_id: run_id.clone(),
            trace_id: TraceId::generate(&randomness),
            span_id: SpanId::generate(&randomness),
            at: Timestamp::from_second(1_700_000_000 + second).unwrap(),
            candidate: None,
            redacted: Vec::new(),
            body: EventBody::Printed { text: format!("{second}") },
        };
        let durability = if second % 3 == 0 { Durability::Forced } else { Durability::Ordered };
        let record = journal.append(event, durability).await.unwrap();
        say(&format!("appended {} {durability:?}", record.sequence));
    }
}
