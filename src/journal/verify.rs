//! Verification of a log, for every store.

use serde::Serialize;

use luaplan_base::ContentHash;

use super::anchor::Anchor;
use super::select::stored_time;
use super::{Event, GENESIS_HASH, RECORD_VERSION, record_hash};

/// The number of problems listed; further ones are only counted.
const PROBLEMS_MAX: usize = 100;

/// The kind of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// A record's hash does not match its content: the content was changed.
    HashMismatch,
    /// A record names a predecessor other than its own: a record was changed, inserted or moved.
    ChainBroken,
    /// Records are missing from the middle or the start.
    RecordsMissing,
    /// A column differs from the record's body.
    ColumnMismatch,
    /// A record or a part of the store cannot be read.
    Unreadable,
    /// Records known to have been written are missing from the end.
    EndMissing,
    /// The anchor is missing or damaged, so that a truncated end could go undetected.
    AnchorUnusable,
    /// The record was written by a newer program; only its hash was checked.
    NewerVersion,
    /// The database's own check found it inconsistent.
    Database,
    /// The protection of records against changes is missing.
    Unprotected,
    /// A named context does not match its hash, or a version of it is missing.
    Context,
}

/// One problem.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct LogProblem {
    /// The record concerned, if there is one.
    pub sequence: Option<u64>,
    /// The kind of a problem.
    pub kind: ProblemKind,
    /// A message for people.
    pub message: String,
}

/// The result of verification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct VerifyReport {
    /// Records read.
    pub records: u64,
    /// Whether there are no problems.
    pub ok: bool,
    /// The newest record's hash: keep it elsewhere to prove later that nothing before it changed.
    pub head_hash: String,
    /// The problems, at most a hundred.
    pub problems: Vec<LogProblem>,
    /// The number of further problems.
    pub problems_omitted: u64,
}

/// A record as it is stored.
pub(super) struct StoredRow {
    pub(super) sequence: u64,
    pub(super) version: i64,
    pub(super) run_id: Option<String>,
    pub(super) at: Option<String>,
    pub(super) event: Option<String>,
    pub(super) tool: Option<String>,
    pub(super) call_id: Option<String>,
    pub(super) ok: Option<bool>,
    pub(super) body: String,
    pub(super) previous_hash: String,
    pub(super) hash: String,
}

/// Checks a log in one pass from its start, with one record in memory at a time.
pub(super) struct LogCheck {
    report: VerifyReport,
    sequence: u64,
    anchor: Option<Anchor>,
    context: Option<(String, i64)>,
}

impl LogCheck {
    pub(super) fn new() -> Self {
        let report = VerifyReport {
            records: 0,
            ok: true,
            head_hash: GENESIS_HASH.to_owned(),
            problems: Vec::new(),
            problems_omitted: 0,
        };
        Self { report, sequence: 0, anchor: None, context: None }
    }

    pub(super) fn found(&mut self, sequence: Option<u64>, kind: ProblemKind, message: impl Into<String>) {
        self.report.ok = false;
        if self.report.problems.len() < PROBLEMS_MAX {
            self.report.problems.push(LogProblem { sequence, kind, message: message.into() });
        } else {
            self.report.problems_omitted += 1;
        }
    }

    /// Adds a record that the log is known to hold, before the log is read.
    pub(super) fn expect(&mut self, anchor: Anchor) {
        if self.anchor.as_ref().is_none_or(|known| known.sequence < anchor.sequence) {
            self.anchor = Some(anchor);
        }
    }

    /// The number of the record after the last one seen.
    pub(super) fn next_sequence(&self) -> u64 {
        self.sequence + 1
    }

    /// The next record's number, as stored; `None` where it cannot be one.
    pub(super) fn look_at_sequence(&mut self, stored: i64) -> Option<u64> {
        let Ok(sequence) = u64::try_from(stored) else {
            self.found(None, ProblemKind::ChainBroken, format!("there is a record numbered {stored}"));
            return None;
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
        Some(sequence)
    }

    pub(super) fn look_at_record(&mut self, row: &StoredRow) {
        let sequence = row.sequence;
        let chained_to = std::mem::replace(&mut self.report.head_hash, row.hash.clone());
        let anchored = self.anchor.as_ref().filter(|anchor| anchor.sequence == sequence);
        if anchored.is_some_and(|anchor| anchor.hash != row.hash) {
            let message = "the record is not the one the anchor names";
            self.found(Some(sequence), ProblemKind::HashMismatch, message);
        }
        if row.previous_hash != chained_to {
            let message = "the record names another predecessor than the one before it";
            self.found(Some(sequence), ProblemKind::ChainBroken, message);
        }
        let hash = |version| record_hash(&row.previous_hash, sequence, version, row.body.as_bytes());
        if u32::try_from(row.version).ok().is_none_or(|version| hash(version) != row.hash) {
            let message = "the record does not match its hash: it was changed";
            self.found(Some(sequence), ProblemKind::HashMismatch, message);
        }
        if row.version > i64::from(RECORD_VERSION) {
            let message =
                format!("the record has version {}; this program knows {RECORD_VERSION}", row.version);
            self.found(Some(sequence), ProblemKind::NewerVersion, message);
            return;
        }
        match serde_json::from_str::<Event>(&row.body) {
            Ok(event) => self.compare_columns(row, &event),
            Err(error) => {
                self.found(Some(sequence), ProblemKind::Unreadable, format!("the body is no event: {error}"));
            }
        }
    }

    fn compare_columns(&mut self, row: &StoredRow, event: &Event) {
        let body = &event.body;
        let same = [
            ("run_id", row.run_id.as_deref() == Some(event.run_id.as_str())),
            ("at", row.at == Some(stored_time(event.at))),
            ("event", row.event.as_deref() == Some(body.name())),
            ("tool", row.tool.as_deref() == body.tool()),
            ("call_id", row.call_id.as_deref() == body.call_id().map(luaplan_base::CallId::as_str)),
            ("ok", row.ok == body.ok()),
        ];
        for (name, _) in same.into_iter().filter(|(_, same)| !same) {
            let message = format!("the column `{name}` does not say what the record says");
            self.found(Some(row.sequence), ProblemKind::ColumnMismatch, message);
        }
    }

    /// The next version of a named context, by name and version.
    pub(super) fn look_at_context(&mut self, name: String, version: i64, body: &str, hash: &str) {
        if ContentHash::of(body.as_bytes()).as_str() != hash {
            let message = format!("version {version} of the context `{name}` does not match its hash");
            self.found(None, ProblemKind::Context, message);
        }
        let before = self.context.take().filter(|(last, _)| *last == name);
        let expected = before.map_or(1, |(_, last)| last + 1);
        if version != expected {
            let message = format!("version {expected} of the context `{name}` is missing");
            self.found(None, ProblemKind::Context, message);
        }
        self.context = Some((name, version));
    }

    pub(super) fn finish(mut self) -> VerifyReport {
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
