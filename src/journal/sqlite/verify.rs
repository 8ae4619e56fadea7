//! Does the log still say what was written?

use futures::TryStreamExt as _;
use serde::Serialize;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{Sqlite, SqliteRow};
use sqlx::{Executor as _, Row as _};

use super::errors::journal_error;
use super::read::stored_time;
use super::{SqliteJournal, anchor, schema};
use crate::base::{ContentHash, Result};
use crate::journal::{Event, GENESIS_HASH, RECORD_VERSION, record_hash};

/// Problems told of one by one; further ones are only counted.
const PROBLEMS_MAX: usize = 100;

/// What kind of thing is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// A record's hash is not the hash of what it holds: something in it was changed.
    HashMismatch,
    /// A record names another predecessor than the one it has: one was changed, put in or moved.
    ChainBroken,
    /// Records are missing from the middle or the start.
    RecordsMissing,
    /// A column does not say what the record's body says.
    ColumnMismatch,
    /// A record or a part of the file cannot be read.
    Unreadable,
    /// Records that were certainly written are missing from the end.
    EndMissing,
    /// The anchor is missing or damaged, so that a missing end could go unseen.
    AnchorUnusable,
    /// The record was written by a newer program; only its hash was checked.
    NewerVersion,
    /// SQLite finds the file inconsistent in itself.
    Database,
    /// What keeps records from being changed is not in place.
    Unprotected,
    /// A named context does not match its hash, or a version of it is missing.
    Context,
}

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The record concerned, if it is about one.
    pub sequence: Option<u64>,
    /// What kind of thing is wrong.
    pub kind: ProblemKind,
    /// What exactly, in words.
    pub message: String,
}

/// What verifying found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Records read.
    pub records: u64,
    /// Whether nothing is wrong.
    pub ok: bool,
    /// The newest record's hash: keep it elsewhere to prove later that nothing before it changed.
    pub head_hash: String,
    /// What is wrong, at most a hundred.
    pub problems: Vec<Problem>,
    /// Further problems that are not listed.
    pub problems_omitted: u64,
}

/// Reads the log once, from its start, holding one record at a time.
struct Check {
    report: VerifyReport,
    sequence: u64,
    anchor: Option<anchor::Anchor>,
}

impl SqliteJournal {
    /// Checks every record, the order of all, the end against the anchor, the file in itself and
    /// the named contexts. What is wrong is in the report, not an error.
    ///
    /// # Errors
    /// `journal_unavailable` or `journal_corrupt` where the file cannot be read at all.
    pub async fn verify(&self) -> Result<VerifyReport> {
        let mut check = Check::new();
        // Read before the log: records that come in meanwhile can then only be more.
        check.read_anchor(self);
        let mut connection =
            self.readers.acquire().await.map_err(|error| journal_error(&self.path, error))?;
        connection.execute("BEGIN").await.map_err(|error| journal_error(&self.path, error))?;
        check.run(&mut connection).await;
        // Nothing was written; a connection that cannot end its reading is of no further use.
        if connection.execute("ROLLBACK").await.is_err() {
            drop(connection.detach());
        }
        Ok(check.finish())
    }
}

impl Check {
    fn new() -> Self {
        let report = VerifyReport {
            records: 0,
            ok: true,
            head_hash: GENESIS_HASH.to_owned(),
            problems: Vec::new(),
            problems_omitted: 0,
        };
        Self { report, sequence: 0, anchor: None }
    }

    fn found(&mut self, sequence: Option<u64>, kind: ProblemKind, message: impl Into<String>) {
        self.report.ok = false;
        if self.report.problems.len() < PROBLEMS_MAX {
            self.report.problems.push(Problem { sequence, kind, message: message.into() });
        } else {
            self.report.problems_omitted += 1;
        }
    }

    fn read_anchor(&mut self, journal: &SqliteJournal) {
        let file = anchor::anchor_path(&journal.path);
        match anchor::read(&journal.path) {
            Ok(Some(anchor)) => self.anchor = Some(anchor),
            Ok(None) => self.found(
                None,
                ProblemKind::AnchorUnusable,
                format!("the anchor `{}` is missing: a cut-off end cannot be seen", file.display()),
            ),
            Err(error) => self.found(
                None,
                ProblemKind::AnchorUnusable,
                format!("the anchor `{}` cannot be used: {error}", file.display()),
            ),
        }
    }

    async fn run(&mut self, connection: &mut PoolConnection<Sqlite>) {
        if let Err(error) = self.look_at_file(connection).await {
            self.found(None, ProblemKind::Unreadable, format!("the file cannot be checked: {error}"));
        }
        if let Err(error) = self.look_at_records(connection).await {
            let next = self.sequence + 1;
            self.found(Some(next), ProblemKind::Unreadable, format!("reading stopped here: {error}"));
        }
        if let Err(error) = self.look_at_contexts(connection).await {
            self.found(None, ProblemKind::Unreadable, format!("the contexts cannot be read: {error}"));
        }
    }

    async fn look_at_file(&mut self, connection: &mut PoolConnection<Sqlite>) -> sqlx::Result<()> {
        let triggers: Vec<String> =
            sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
                .fetch_all(&mut **connection)
                .await?;
        for trigger in schema::TRIGGERS {
            if !triggers.iter().any(|name| name == trigger) {
                let message = format!("the trigger `{trigger}`, which refuses changes, is missing");
                self.found(None, ProblemKind::Unprotected, message);
            }
        }
        let complaints: Vec<String> =
            sqlx::query_scalar("PRAGMA integrity_check(20)").fetch_all(&mut **connection).await?;
        for complaint in complaints.iter().filter(|complaint| *complaint != "ok") {
            self.found(None, ProblemKind::Database, complaint.clone());
        }
        Ok(())
    }

    async fn look_at_records(&mut self, connection: &mut PoolConnection<Sqlite>) -> sqlx::Result<()> {
        // The unary plus keeps SQLite from answering out of an index, which may differ from the table.
        let mut rows = sqlx::query(
            "SELECT sequence, version, +run_id, +at, +event, +tool, call_id, ok, body, previous_hash, hash \
             FROM records NOT INDEXED ORDER BY sequence",
        )
        .fetch(&mut **connection);
        while let Some(row) = rows.try_next().await? {
            let sequence: i64 = row.try_get(0)?;
            let Ok(sequence) = u64::try_from(sequence) else {
                self.found(None, ProblemKind::ChainBroken, format!("there is a record numbered {sequence}"));
                continue;
            };
            let expected = self.sequence + 1;
            if sequence != expected {
                let message = match sequence.saturating_sub(expected) {
                    0 => format!("a record numbered {sequence} was put in"),
                    1 => format!("record {expected} is missing"),
                    _ => format!("records {expected} to {} are missing", sequence - 1),
                };
                self.found(Some(sequence), ProblemKind::RecordsMissing, message);
            }
            self.report.records += 1;
            self.sequence = sequence;
            if let Err(error) = self.look_at_record(sequence, &row) {
                self.found(Some(sequence), ProblemKind::Unreadable, error.to_string());
            }
        }
        Ok(())
    }

    fn look_at_record(&mut self, sequence: u64, row: &SqliteRow) -> sqlx::Result<()> {
        let hash: String = row.try_get(10)?;
        let chained_to = std::mem::replace(&mut self.report.head_hash, hash.clone());
        let anchored = self.anchor.as_ref().filter(|anchor| anchor.sequence == sequence);
        if anchored.is_some_and(|anchor| anchor.hash != hash) {
            let message = "the record is not the one the anchor names";
            self.found(Some(sequence), ProblemKind::HashMismatch, message);
        }
        let previous_hash: &str = row.try_get(9)?;
        if previous_hash != chained_to {
            let message = "the record names another predecessor than the one before it";
            self.found(Some(sequence), ProblemKind::ChainBroken, message);
        }
        let version: i64 = row.try_get(1)?;
        let body: &str = row.try_get(8)?;
        let known = u32::try_from(version).ok();
        if known.is_none_or(|version| record_hash(previous_hash, sequence, version, body.as_bytes()) != hash)
        {
            let message = "the record does not match its hash: it was changed";
            self.found(Some(sequence), ProblemKind::HashMismatch, message);
        }
        if version > i64::from(RECORD_VERSION) {
            let message = format!("the record has version {version}; this program knows {RECORD_VERSION}");
            self.found(Some(sequence), ProblemKind::NewerVersion, message);
            return Ok(());
        }
        match serde_json::from_str::<Event>(body) {
            Ok(event) => self.compare_columns(sequence, row, &event),
            Err(error) => {
                self.found(Some(sequence), ProblemKind::Unreadable, format!("the body is no event: {error}"));
                Ok(())
            }
        }
    }

    fn compare_columns(&mut self, sequence: u64, row: &SqliteRow, event: &Event) -> sqlx::Result<()> {
        let body = &event.body;
        let stored = [row.try_get(2)?, row.try_get(3)?, row.try_get(4)?, row.try_get(5)?, row.try_get(6)?];
        let meant: [Option<String>; 5] = [
            Some(event.run_id.to_string()),
            Some(stored_time(event.at)),
            Some(body.name().to_owned()),
            body.tool().map(str::to_owned),
            body.call_id().map(ToString::to_string),
        ];
        let names = ["run_id", "at", "event", "tool", "call_id"];
        let mut differing: Vec<&str> = names
            .into_iter()
            .zip(stored.into_iter().zip(meant))
            .filter_map(|(name, (stored, meant)): (_, (Option<String>, _))| (stored != meant).then_some(name))
            .collect();
        let stored_ok: Option<i64> = row.try_get(7)?;
        if stored_ok != body.ok().map(i64::from) {
            differing.push("ok");
        }
        for name in differing {
            let message = format!("the column `{name}` does not say what the record says");
            self.found(Some(sequence), ProblemKind::ColumnMismatch, message);
        }
        Ok(())
    }

    async fn look_at_contexts(&mut self, connection: &mut PoolConnection<Sqlite>) -> sqlx::Result<()> {
        let mut before: Option<(String, i64)> = None;
        let mut rows = sqlx::query("SELECT name, version, body, hash FROM contexts ORDER BY name, version")
            .fetch(&mut **connection);
        while let Some(row) = rows.try_next().await? {
            let (name, version): (String, i64) = (row.try_get(0)?, row.try_get(1)?);
            let body: &str = row.try_get(2)?;
            let hash: &str = row.try_get(3)?;
            if ContentHash::of(body.as_bytes()).as_str() != hash {
                let message = format!("version {version} of the context `{name}` does not match its hash");
                self.found(None, ProblemKind::Context, message);
            }
            let expected = before.filter(|(last, _)| *last == name).map_or(1, |(_, last)| last + 1);
            if version != expected {
                let message = format!("version {expected} of the context `{name}` is missing");
                self.found(None, ProblemKind::Context, message);
            }
            before = Some((name, version));
        }
        Ok(())
    }

    fn finish(mut self) -> VerifyReport {
        if let Some(anchor) = self.anchor.take().filter(|anchor| anchor.sequence > self.sequence) {
            let message = match anchor.sequence - self.sequence {
                1 => format!("record {} was written and is not there", anchor.sequence),
                _ => format!(
                    "records {} to {} were written and are not there",
                    self.sequence + 1,
                    anchor.sequence
                ),
            };
            self.found(Some(anchor.sequence), ProblemKind::EndMissing, message);
        }
        self.report
    }
}
