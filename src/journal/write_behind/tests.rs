//! No event is lost or reordered, and no failure goes unreported.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;

use luaplan_base::{RunId, SystemClock, SystemRandomness};

use super::super::{
    ConflictGuard, EventBody, JournalRead as _, MemoryJournal, RecordFilter, Redactor, RunLog, Settled,
};
use super::*;

/// Refuses appends while it is broken.
#[derive(Default)]
struct Breaking {
    kept: MemoryJournal,
    broken: AtomicBool,
    /// The number of appends.
    appends: AtomicUsize,
}

#[async_trait]
impl JournalWrite for Breaking {
    async fn append(&self, event: Event, durability: Durability) -> Result<Record> {
        if self.broken.load(Ordering::SeqCst) {
            return Err(Error::new(ErrorCode::JournalDiskFull, "full"));
        }
        self.kept.append(event, durability).await
    }

    async fn append_all(&self, events: Vec<(Event, Durability)>) -> Result<Vec<Record>> {
        self.appends.fetch_add(1, Ordering::SeqCst);
        let mut records = Vec::new();
        for (event, durability) in events {
            records.push(self.append(event, durability).await?);
        }
        Ok(records)
    }

    async fn settle(&self, events: Vec<Event>, unless: ConflictGuard) -> Result<Settled> {
        self.kept.settle(events, unless).await
    }
}

struct World {
    journal: Arc<Breaking>,
    log: RunLog,
    told: Arc<Mutex<Vec<String>>>,
}

fn world() -> World {
    let journal = Arc::new(Breaking::default());
    let told = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&told);
    let listener: EventListener = Arc::new(move |event, record| {
        let place = record.map_or("-".to_owned(), |record| record.sequence.to_string());
        heard.lock().unwrap().push(format!("{place} {}", text(&event.body)));
    });
    let log = RunLog::new(
        RunId::generate(),
        journal.clone(),
        Arc::new(SystemClock),
        Arc::new(SystemRandomness),
        Arc::new(Redactor::new(Vec::new())),
        vec![listener],
    );
    World { journal, log, told }
}

impl World {
    async fn print(&self, text: &str, durability: Durability) -> Result<()> {
        self.log.emit(EventBody::Printed { text: text.to_owned() }, durability).await
    }

    async fn kept(&self) -> Vec<String> {
        let records = self.journal.kept.records(RecordFilter::default()).await.unwrap();
        records.iter().map(|record| text(&record.event.body)).collect()
    }
}

fn text(body: &EventBody) -> String {
    match body {
        EventBody::Printed { text } | EventBody::LlmText { text } => text.clone(),
        other => other.name().to_owned(),
    }
}

#[tokio::test]
async fn what_is_handed_over_is_kept_and_told_in_order() {
    let world = world();
    for number in 0..1000 {
        world.print(&number.to_string(), Durability::Queued).await.unwrap();
        if number == 500 {
            let text = EventBody::LlmText { text: "passing".into() };
            world.log.emit(text, Durability::Queued).await.unwrap();
        }
    }
    world.print("end", Durability::Forced).await.unwrap();
    let kept = world.kept().await;
    assert_eq!(kept[..1000], (0..1000).map(|number| number.to_string()).collect::<Vec<_>>());
    assert_eq!(kept[1000..], ["end"]);
    let told = world.told.lock().unwrap();
    assert_eq!(told[499..504], ["500 499", "501 500", "- passing", "502 501", "503 502"]);
    assert_eq!(told.len(), 1002);
}

#[tokio::test(start_paused = true)]
async fn queued_events_are_collected_until_a_caller_waits() {
    let world = world();
    for number in 0..50 {
        world.print(&number.to_string(), Durability::Queued).await.unwrap();
        tokio::task::yield_now().await;
    }
    assert_eq!(world.journal.appends.load(Ordering::SeqCst), 0);
    let asked = Instant::now();
    world.print("waited for", Durability::Ordered).await.unwrap();
    assert_eq!(world.journal.appends.load(Ordering::SeqCst), 1);
    assert_eq!(asked.elapsed(), Duration::ZERO);
    assert_eq!(world.kept().await.len(), 51);
    world.print("alone", Durability::Queued).await.unwrap();
    tokio::time::sleep(2 * GATHERING).await;
    assert_eq!(world.kept().await.len(), 52);
}

#[tokio::test(start_paused = true)]
async fn the_next_waiting_caller_gets_a_failure_and_nothing_is_recorded_after_it_until_then() {
    let world = world();
    world.print("before", Durability::Queued).await.unwrap();
    world.log.catch_up().await.unwrap();
    world.journal.broken.store(true, Ordering::SeqCst);
    world.print("lost", Durability::Queued).await.unwrap();
    tokio::time::sleep(2 * GATHERING).await;
    world.journal.broken.store(false, Ordering::SeqCst);
    world.print("behind the loss", Durability::Queued).await.unwrap();
    let error = world.print("intent", Durability::Forced).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::JournalDiskFull);
    assert_eq!(world.kept().await, ["before"]);
    world.print("after", Durability::Ordered).await.unwrap();
    assert_eq!(world.kept().await, ["before", "after"]);
}

#[tokio::test]
async fn settling_reports_the_failure_of_queued_events() {
    let world = world();
    world.journal.broken.store(true, Ordering::SeqCst);
    world.print("lost", Durability::Queued).await.unwrap();
    assert_eq!(world.log.catch_up().await.unwrap_err().code(), ErrorCode::JournalDiskFull);
    world.log.catch_up().await.unwrap();
    assert!(world.kept().await.is_empty());
}
