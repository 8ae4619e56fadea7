//! The messages to and from the process that queries SQLite files: a length of four bytes, then so many
//! bytes of JSON.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use luaplan_base::{ToolFailure, Value};

use super::failure::{Failed, query_failed};
use super::rows::{Caps, Rows};
use super::session::DatabaseTarget;
use super::statement::{Questions, Statement, StatementKind};
use super::template::Rendered;

/// The most bytes of one message, above every `bytes_max` that makes sense.
pub(super) const MESSAGE_BYTES_MAX: u32 = 1 << 30;

/// One checked statement for one file.
#[derive(Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) name: String,
    pub(super) path: PathBuf,
    pub(super) statement_timeout: Duration,
    sql: String,
    values: Vec<Json>,
    writes: bool,
    /// Whether the statement is only prepared.
    #[serde(default)]
    pub(super) is_look: bool,
    caps: Caps,
}

#[derive(Serialize, Deserialize)]
pub(super) enum JobAnswer {
    Rows { rows: Vec<Json>, affected: u64 },
    Failure { code: String, message: String, retryable: bool, details: Vec<(String, Json)> },
}

impl Job {
    pub(super) fn new(target: &DatabaseTarget, path: PathBuf, statement: &Statement, caps: Caps) -> Self {
        Self {
            name: target.name.clone(),
            path,
            statement_timeout: target.statement_timeout,
            sql: statement.rendered.sql.clone(),
            values: statement.rendered.values.iter().map(Value::to_exact_json).collect(),
            writes: statement.kind == StatementKind::Write,
            is_look: false,
            caps,
        }
    }

    /// The same, to be prepared and not executed.
    pub(super) fn into_look(self) -> Self {
        Self { writes: false, is_look: true, ..self }
    }

    /// The statement, and how much its result may hold.
    pub(super) fn into_statement(self) -> Result<(Statement, Caps), Failed> {
        let statement = Statement {
            rendered: Rendered { sql: self.sql, values: values_of(self.values)? },
            kind: if self.writes { StatementKind::Write } else { StatementKind::Read },
            questions: Questions::default(),
        };
        Ok((statement, self.caps))
    }
}

/// Values from a pipe. An unreadable one must not become NULL, which a write would store.
fn values_of(values: Vec<Json>) -> Result<Vec<Value>, Failed> {
    let read = values.into_iter().map(Value::from_exact_json).collect::<luaplan_base::Result<_>>();
    read.map_err(|error| query_failed(format!("a value cannot be handed on: {}", error.message())))
}

impl JobAnswer {
    pub(super) fn new(outcome: Result<Rows, Failed>) -> Self {
        match outcome {
            Ok(rows) => {
                let affected = rows.affected;
                Self::Rows { rows: rows.into_rows().iter().map(Value::to_exact_json).collect(), affected }
            }
            Err(failed) => {
                let ToolFailure { code, message, retryable, details } = failed.into_tool_failure();
                let details =
                    details.into_iter().map(|(name, value)| (name, value.to_exact_json())).collect();
                Self::Failure { code, message, retryable, details }
            }
        }
    }

    /// Adds the rows, or fails as the process did.
    pub(super) fn put_into(self, rows: &mut Rows) -> Result<(), Failed> {
        match self {
            Self::Rows { rows: found, affected } => {
                rows.take(values_of(found)?, affected);
                Ok(())
            }
            Self::Failure { code, message, retryable, details } => {
                let details: IndexMap<String, Value> = details
                    .into_iter()
                    .map(|(name, json)| Ok((name, values_of(vec![json])?.pop().unwrap_or_default())))
                    .collect::<Result<_, Failed>>()?;
                Err(Failed::from(ToolFailure { code, message, retryable, details }))
            }
        }
    }
}

/// A message with its length before it.
pub(super) fn framed(message: &impl Serialize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; 4];
    serde_json::to_writer(&mut bytes, message)?;
    let length = u32::try_from(bytes.len() - 4).ok().filter(|length| *length <= MESSAGE_BYTES_MAX);
    let length = length.ok_or_else(|| io::Error::other("a message is too long"))?;
    if let Some(head) = bytes.first_chunk_mut::<4>() {
        *head = length.to_le_bytes();
    }
    Ok(bytes)
}

/// The next message on this process's own pipe.
pub(super) fn read(from: &mut impl Read) -> io::Result<Job> {
    let mut head = [0; 4];
    from.read_exact(&mut head)?;
    let length = u32::from_le_bytes(head);
    let mut body = Vec::new();
    from.take(u64::from(length.min(MESSAGE_BYTES_MAX))).read_to_end(&mut body)?;
    Ok(serde_json::from_slice(&body)?)
}

pub(super) fn write(to: &mut impl Write, answer: &JobAnswer) -> io::Result<()> {
    to.write_all(&framed(answer)?)?;
    to.flush()
}
