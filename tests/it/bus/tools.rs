//! Small tools that really do something.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use luaplan::base::{CallOutcome, ErrorCode, LimitName, ToolFailure, Value};
use luaplan::bus::{Invocation, Tool};
use luaplan::catalog::{ToolSpec, read_manifest};
use luaplan::journal::{EventBody, JournalRead, RecordFilter, SqliteJournal};

/// A manifest with one parameter `n`; `extra` goes before its tables.
pub(super) fn spec(name: &str, extra: &str) -> ToolSpec {
    let manifest = format!(
        "name = \"{name}\"\ndescription = \"d\"\nkind = \"builtin\"\nrate = \"10000/s\"\nburst = 1000\n{extra}\n\
         [params]\ntype = \"object\"\n[params.properties.n]\ntype = [\"integer\", \"string\"]\n\
         [params.properties.password]\ntype = \"string\"\n"
    );
    read_manifest(&manifest, name).unwrap()
}

/// What a tool does when it is called.
pub(super) enum Does {
    /// Gives its argument back, larger numbers sooner.
    Echo,
    /// Looks into the journal file for its own intent and tells what it found.
    ReadJournal(PathBuf),
    /// Waits until it is cancelled or dropped.
    Hang,
    /// Panics.
    Panic,
    /// Gives so many bytes.
    Bytes(usize),
    /// Closes the journal under the bus.
    CloseJournal(Arc<SqliteJournal>),
    /// Spends so many model tokens and answers as if nothing had happened.
    SpendTokens(u64),
    /// Fails with a message that holds a secret.
    Fail(String),
}

pub(super) struct Probe {
    spec: ToolSpec,
    does: Does,
    pub(super) seen: Arc<Seen>,
}

/// What was seen of a tool from outside.
#[derive(Default)]
pub(super) struct Seen {
    pub(super) calls: AtomicU32,
    now: AtomicU32,
    pub(super) most_at_once: AtomicU32,
    pub(super) stopped: AtomicU32,
}

impl Probe {
    pub(super) fn new(spec: ToolSpec, does: Does) -> Self {
        Self { spec, does, seen: Arc::default() }
    }
}

struct Stopped(Arc<Seen>);

impl Drop for Stopped {
    fn drop(&mut self) {
        self.0.stopped.fetch_add(1, Ordering::SeqCst);
        self.0.now.fetch_sub(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl Tool for Probe {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        self.seen.calls.fetch_add(1, Ordering::SeqCst);
        let now = self.seen.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.seen.most_at_once.fetch_max(now, Ordering::SeqCst);
        let _stopped = Stopped(Arc::clone(&self.seen));
        let n = invocation.arguments.get("n").cloned().unwrap_or_default();
        match &self.does {
            Does::Echo => {
                let number = if let Value::Integer(number) = n { number } else { 0 };
                tokio::time::sleep(Duration::from_millis(u64::try_from(70 - number).unwrap_or(1))).await;
                Ok(n)
            }
            Does::ReadJournal(path) => {
                let journal = SqliteJournal::open_read_only(path).await?;
                let filter =
                    RecordFilter { run_id: Some(invocation.run_id.clone()), ..RecordFilter::default() };
                let records = journal.records(filter).await?;
                let Some(EventBody::ToolCallStarted { call_id, idempotency_key, .. }) =
                    records.last().map(|record| &record.event.body)
                else {
                    return Err(ToolFailure::new(ErrorCode::ToolFailed, "no intent is in the file"));
                };
                assert_eq!(*call_id, invocation.call_id);
                assert_eq!(*idempotency_key, invocation.idempotency_key);
                Ok(Value::from(idempotency_key.as_str()))
            }
            Does::Hang => {
                invocation.cancellation.cancelled().await;
                std::future::pending().await
            }
            Does::Panic => panic!("as told"),
            Does::Bytes(size) => Ok("x".repeat(*size).into()),
            Does::CloseJournal(journal) => {
                journal.close().await;
                Ok(n)
            }
            Does::SpendTokens(amount) => {
                let spent = invocation.budget.spend(LimitName::LlmTokens, *amount);
                Ok(spent.is_ok().into())
            }
            Does::Fail(message) => Err(ToolFailure::new(ErrorCode::ToolFailed, message.as_str())),
        }
    }
}
