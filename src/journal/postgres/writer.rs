//! The writer: one task for each process.
//!
//! Each transaction starts by locking the one row of `head`, which names the newest record. So the nodes
//! take turns, numbers have no gaps, the order of numbers is the order of commits, and a later commit
//! follows in the database's own log: a forced commit brings all earlier ones to the disk.
//!
//! Under that lock the fence of each append, the node and token of the run's claim, is compared. A claim takes
//! the lock too, so an old owner cannot write after another node has claimed the run.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use sqlx::postgres::{PgRow, Postgres};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use luaplan_base::{Error, Result, RunId};

use super::errors::unavailable;
use super::leases::{Fence, Leases, taken_over};
use super::record_row::decode;
use super::session::{Transaction, TransactionError, WriterSession};
use crate::anchor::{self, Anchor};
use crate::chain::{ChainedRow, Head, Row, place};
use crate::select::select_precluding;
use crate::{ConflictGuard, Durability, EventBody, Record, Settled};

/// The most appends in one transaction.
const BATCH_MAX: usize = 256;

/// How long appends wait for a database that does not answer before they fail.
const OUTAGE_MAX: Duration = Duration::from_secs(15);

/// The pause before a retry where the database did not answer.
const TRY_AGAIN: Duration = Duration::from_millis(100);

/// A request to the writer.
pub(super) enum WriterCommand {
    Append(Append),
    Settle(Settle),
    /// Write the queue, close the connection, answer.
    Close(oneshot::Sender<()>),
}

/// Events to append, all or none.
pub(super) struct Append {
    pub(super) rows: Vec<Row>,
    pub(super) durability: Durability,
    /// The fence of the run's claim; `None` for events of a run without an owner.
    pub(super) fence: Option<Fence>,
    pub(super) reply: oneshot::Sender<Result<Vec<Record>>>,
}

/// Events to append, all or none, unless a record conflicts.
pub(super) struct Settle {
    pub(super) rows: Vec<Row>,
    pub(super) unless: ConflictGuard,
    pub(super) reply: oneshot::Sender<Result<Settled>>,
}

pub(super) struct Writer {
    pub(super) session: WriterSession,
    pub(super) leases: Arc<Leases>,
    /// The path beside which this node's anchor lies.
    pub(super) anchor: Option<PathBuf>,
}

/// What a commit whose answer was lost may have written.
#[derive(Default)]
struct Unanswered {
    placed: Vec<ChainedRow>,
    /// Which appends of the batch it included.
    included: Vec<bool>,
}

/// A run, its node and the token of its fence.
type Owner = (String, Option<String>, i64);

/// The result of each append of a batch, in order: the number of records, or why there are none.
type Verdicts = Vec<Result<usize>>;

impl Writer {
    pub(super) async fn run(mut self, mut commands: mpsc::Receiver<WriterCommand>) {
        let mut waiting = Vec::with_capacity(BATCH_MAX);
        let mut closers = Vec::new();
        while commands.recv_many(&mut waiting, BATCH_MAX).await != 0 {
            let mut batch = Vec::with_capacity(waiting.len());
            for command in waiting.drain(..) {
                match command {
                    WriterCommand::Append(append) => batch.push(append),
                    WriterCommand::Settle(settle) => {
                        // Earlier appends come first.
                        self.write(std::mem::take(&mut batch)).await;
                        self.settle(settle).await;
                    }
                    WriterCommand::Close(done) => {
                        // The queue accepts no more; what it holds is still received.
                        commands.close();
                        closers.push(done);
                    }
                }
            }
            self.write(batch).await;
        }
        self.session.close().await;
        for done in closers {
            let _ = done.send(());
        }
    }

    async fn write(&mut self, batch: Vec<Append>) {
        if batch.is_empty() {
            return;
        }
        let give_up = Instant::now() + OUTAGE_MAX;
        let mut unanswered = Unanswered::default();
        let kept = loop {
            match self.try_write(&batch, &mut unanswered).await {
                Err(TransactionError::Transient(error)) if Instant::now() < give_up => {
                    tracing::warn!(%error, "the journal's database does not answer; trying again");
                    tokio::time::sleep(TRY_AGAIN).await;
                }
                Err(failed) => break Err(failed.into_error(self.session.shown())),
                Ok(kept) => break Ok(kept),
            }
        };
        match kept {
            Ok((placed, verdicts)) => {
                let mut records = placed.into_iter().map(ChainedRow::into_record);
                for (append, verdict) in batch.into_iter().zip(verdicts) {
                    let answer = verdict.map(|count| records.by_ref().take(count).collect());
                    // A cancelled caller no longer waits; the records stay.
                    let _ = append.reply.send(answer);
                }
            }
            Err(error) => {
                for append in batch {
                    let _ = append.reply.send(Err(error.without_source()));
                }
            }
        }
    }

    /// One transaction for all appends whose fence holds.
    async fn try_write(
        &mut self,
        batch: &[Append],
        unanswered: &mut Unanswered,
    ) -> Result<(Vec<ChainedRow>, Verdicts), TransactionError> {
        let durability = batch.iter().map(|append| append.durability).max().unwrap_or(Durability::Ordered);
        let head = self.begin(durability).await?;
        if !unanswered.placed.is_empty() && self.session.has(&unanswered.placed).await? {
            // The commit succeeded and only its answer was lost.
            self.session.roll_back().await;
            let Unanswered { placed, included } = std::mem::take(unanswered);
            let verdict = |(append, included): (&Append, bool)| match append.rows.first() {
                Some(row) if !included => Err(taken_over(&row.event.run_id)),
                _ => Ok(append.rows.len()),
            };
            let verdicts = batch.iter().zip(included).map(verdict).collect();
            return Ok(self.kept(batch, placed, verdicts, durability).await);
        }
        *unanswered = Unanswered::default();
        let verdicts = self.verdicts(batch).await?;
        let included: Vec<bool> = verdicts.iter().map(Result::is_ok).collect();
        let accepted =
            || batch.iter().zip(&included).filter(|(_, included)| **included).map(|(append, _)| append);
        let placed = place(head, accepted().flat_map(|append| append.rows.iter().cloned()));
        if placed.is_empty() {
            self.session.roll_back().await;
            return Ok((placed, verdicts));
        }
        self.session.insert(&placed).await?;
        for append in accepted() {
            self.note_state(append).await?;
        }
        *unanswered = Unanswered { placed: placed.clone(), included: included.clone() };
        self.session.commit(&placed).await?;
        Ok(self.kept(batch, placed, verdicts, durability).await)
    }

    /// The steps after a batch is in the log: the anchor, and the claims on runs that ended.
    async fn kept(
        &mut self,
        batch: &[Append],
        placed: Vec<ChainedRow>,
        verdicts: Verdicts,
        durability: Durability,
    ) -> (Vec<ChainedRow>, Verdicts) {
        self.move_anchor(&placed, durability).await;
        for (append, _) in batch.iter().zip(&verdicts).filter(|(_, verdict)| verdict.is_ok()) {
            if let (Some(fence), Some(end)) = (&append.fence, append.rows.iter().find(|row| ends(row))) {
                self.leases.end_claim(&end.event.run_id, fence);
            }
        }
        (placed, verdicts)
    }

    async fn settle(&mut self, settle: Settle) {
        let give_up = Instant::now() + OUTAGE_MAX;
        let mut unanswered = Unanswered::default();
        let answer = loop {
            match self.try_settle(&settle, &mut unanswered).await {
                Err(TransactionError::Transient(error)) if Instant::now() < give_up => {
                    tracing::warn!(%error, "the journal's database does not answer; trying again");
                    tokio::time::sleep(TRY_AGAIN).await;
                }
                Err(failed) => break Err(failed.into_error(self.session.shown())),
                Ok(settled) => break Ok(settled),
            }
        };
        let _ = settle.reply.send(answer);
    }

    async fn try_settle(
        &mut self,
        settle: &Settle,
        unanswered: &mut Unanswered,
    ) -> Result<Settled, TransactionError> {
        let head = self.begin(Durability::Forced).await?;
        let written = |placed: Vec<ChainedRow>| {
            Settled::Written(placed.into_iter().map(ChainedRow::into_record).collect())
        };
        if !unanswered.placed.is_empty() && self.session.has(&unanswered.placed).await? {
            self.session.roll_back().await;
            return Ok(written(std::mem::take(&mut unanswered.placed)));
        }
        let connection = self.session.get()?;
        let mut query = select_precluding::<Postgres>(&settle.unless);
        let first = query.build().fetch_optional(connection).await;
        let first = self
            .session
            .drop_on_error(first)?
            .map(|row: PgRow| decode(self.session.shown(), &row))
            .transpose()
            .map_err(TransactionError::Final)?;
        if first.is_some() || settle.rows.is_empty() {
            self.session.roll_back().await;
            return Ok(first.map_or(Settled::Written(Vec::new()), |first| Settled::Conflict(Box::new(first))));
        }
        let placed = place(head, settle.rows.iter().cloned());
        self.session.insert(&placed).await?;
        unanswered.placed.clone_from(&placed);
        self.session.commit(&placed).await?;
        self.move_anchor(&placed, Durability::Forced).await;
        Ok(written(placed))
    }

    /// A server that crashed may have lost records that were not forced. The runs of this node would continue as if
    /// these were on record, so the node gives all of them up: the node that claims one resumes it from the records.
    async fn begin(&mut self, durability: Durability) -> Result<Head, TransactionError> {
        let Transaction { head, lost_records } = self.session.begin(durability).await?;
        if lost_records {
            tracing::error!("the database lost records that were not forced; this node gives its runs up");
            self.leases.reset();
        }
        Ok(head)
    }

    /// Compares the fence of each append.
    async fn verdicts(&mut self, batch: &[Append]) -> Result<Verdicts, TransactionError> {
        let mut run_ids: Vec<String> =
            batch.iter().flat_map(|append| &append.rows).map(|row| row.event.run_id.to_string()).collect();
        run_ids.sort_unstable();
        run_ids.dedup();
        let connection = self.session.get()?;
        let found = sqlx::query_as::<_, Owner>("SELECT run_id, node, fence FROM runs WHERE run_id = ANY($1)")
            .bind(run_ids)
            .fetch_all(connection)
            .await;
        let owners: HashMap<String, (Option<String>, i64)> = self
            .session
            .drop_on_error(found)?
            .into_iter()
            .map(|(run_id, node, fence)| (run_id, (node, fence)))
            .collect();
        let leases = &self.leases;
        let verdict = |append: &Append| {
            for row in &append.rows {
                let run_id = &row.event.run_id;
                let holds = match (owners.get(run_id.as_str()), &append.fence) {
                    (Some((Some(node), token)), Some(fence)) => {
                        fence.is(node, *token) && leases.is_current(fence)
                    }
                    (None | Some((None, _)), None) => true,
                    (Some((Some(_), _)), None) | (None | Some((None, _)), Some(_)) => false,
                };
                if !holds {
                    return Err(taken_over(run_id));
                }
            }
            Ok(append.rows.len())
        };
        Ok(batch.iter().map(verdict).collect())
    }

    /// Writes the status that the events give the run to `runs`, in the same transaction; a run that ends or pauses
    /// loses its owner. A request to cancel stays until the run ends.
    async fn note_state(&mut self, append: &Append) -> Result<(), TransactionError> {
        let Some(fence) = &append.fence else { return Ok(()) };
        let Some((run_id, status, wake_at)) = append.rows.iter().rev().find_map(state_after) else {
            return Ok(());
        };
        let connection = self.session.get()?;
        let noted = sqlx::query(
            "UPDATE runs SET status = $2, node = CASE WHEN $2 = 'open' THEN node END, \
             wake_at = $4::timestamptz WHERE run_id = $1 AND fence = $3",
        )
        .bind(run_id.as_str())
        .bind(status)
        .bind(fence.token)
        .bind(wake_at.map(|at| at.to_string()))
        .execute(connection)
        .await;
        self.session.drop_on_error(noted).map(drop)
    }

    async fn move_anchor(&mut self, placed: &[ChainedRow], durability: Durability) {
        let Some(last) = placed.last() else { return };
        let Some(path) = self.anchor.clone().filter(|_| durability == Durability::Forced) else { return };
        let anchor = Anchor { sequence: last.sequence, hash: last.hash.clone() };
        let moved = tokio::task::spawn_blocking(move || anchor::advance(&path, &anchor)).await;
        // The records are on the server's disk; until the next anchor, only a truncated end could go undetected.
        match moved {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "the journal's anchor could not be written"),
            Err(error) => tracing::warn!(%error, "the journal's anchor was not written"),
        }
    }
}

fn ends(row: &Row) -> bool {
    row.event.body.ends_run()
}

/// The status that an event gives its run, and when the run wakes.
fn state_after(row: &Row) -> Option<(&RunId, &'static str, Option<Timestamp>)> {
    let (status, wake_at) = match &row.event.body {
        EventBody::RunStarted { .. } | EventBody::RunResumed { .. } => ("open", None),
        EventBody::RunSleeping { wake_at, .. } => ("sleeping", Some(*wake_at)),
        // Any node resumes it at that time, as it does a run that sleeps.
        EventBody::RunPaused { answer_by: Some(answer_by), .. } => ("sleeping", Some(*answer_by)),
        EventBody::RunPaused { .. } => ("paused", None),
        body if body.ends_run() => ("ended", None),
        _ => return None,
    };
    Some((&row.event.run_id, status, wake_at))
}

/// The error where the writer has ended.
pub(super) fn closed(shown: &str) -> Error {
    unavailable(shown, "it is closed, or open only to read")
}
