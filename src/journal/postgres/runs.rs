//! The table of runs: the owner of each, and the runs that any node may claim.

use std::sync::Arc;

use sqlx::postgres::PgListener;

use luaplan_base::{Result, RunId};

use super::errors::unavailable;
use super::leases::{Fence, Leases};
use crate::Actor;

/// The channel on which nodes notify each other.
const CHANNEL: &str = "luaplan_work";

/// A run that a node may claim, and whether its cancellation was requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenRun {
    /// The run.
    pub run_id: RunId,
    /// Whether it is to be cancelled.
    pub cancel: bool,
    /// Who requested that.
    pub cancelled_by: Option<Actor>,
}

impl Leases {
    /// Claims a run and returns the token of the new fence; `None` where a live node has the run.
    pub(super) async fn claim(&self, run_id: &RunId, node: &str) -> sqlx::Result<Option<i64>> {
        let new: Option<i64> = sqlx::query_scalar(
            "INSERT INTO runs (run_id, status, node, fence) VALUES ($1, 'open', $2, 1) \
             ON CONFLICT (run_id) DO NOTHING RETURNING fence",
        )
        .bind(run_id.as_str())
        .bind(node)
        .fetch_optional(self.pool())
        .await?;
        if new.is_some() {
            return Ok(new);
        }
        let mut transaction = self.pool().begin().await?;
        // Under this lock no record of the old owner is in flight.
        sqlx::query("SELECT sequence FROM head FOR UPDATE").execute(&mut *transaction).await?;
        let taken = sqlx::query_scalar(
            "UPDATE runs SET node = $2, fence = fence + 1 WHERE run_id = $1 \
             AND (node IS NULL OR node = $2 OR NOT EXISTS \
             (SELECT 1 FROM nodes WHERE nodes.node = runs.node AND expires_at > clock_timestamp())) \
             RETURNING fence",
        )
        .bind(run_id.as_str())
        .bind(node)
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(taken)
    }

    pub(super) async fn release_run(&self, run_id: &RunId, fence: &Fence, set_aside: bool) -> Result<()> {
        sqlx::query(
            "UPDATE runs SET node = NULL, status = CASE WHEN $4 AND status = 'open' THEN 'left' ELSE status END \
             WHERE run_id = $1 AND node = $2 AND fence = $3",
        )
        .bind(run_id.as_str())
        .bind(&*fence.node)
        .bind(fence.token)
        .bind(set_aside)
        .execute(self.pool())
        .await
        .map_err(|error| self.failed(error))?;
        if !set_aside {
            self.wake().await?;
        }
        Ok(())
    }

    /// Runs to claim, oldest first: those without an owner, those whose owner's lease expired, and sleeping runs
    /// whose wake time has come.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub async fn open_runs(self: &Arc<Self>, limit: u32) -> Result<Vec<OpenRun>> {
        let node = self.node().await?;
        let held = self.held();
        let rows: Vec<(String, bool, Option<String>)> = sqlx::query_as(
            "SELECT run_id, cancel, cancel_by FROM runs WHERE run_id <> ALL($2) \
             AND (status = 'open' OR (status = 'sleeping' AND wake_at <= clock_timestamp())) \
             AND (node IS NULL OR node = $1 OR NOT EXISTS \
             (SELECT 1 FROM nodes WHERE nodes.node = runs.node AND expires_at > clock_timestamp())) \
             ORDER BY created_at LIMIT $3",
        )
        .bind(&*node)
        .bind(held)
        .bind(i64::from(limit))
        .fetch_all(self.pool())
        .await
        .map_err(|error| self.failed(error))?;
        let open = |(run_id, cancel, by): (String, bool, Option<String>)| {
            Ok(OpenRun { run_id: run_id.parse()?, cancel, cancelled_by: actor(by) })
        };
        rows.into_iter().map(open).collect()
    }

    /// How many runs wait for a node.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub async fn waiting(&self) -> Result<u64> {
        let (count,): (i64,) =
            sqlx::query_as("SELECT count(*) FROM runs WHERE status = 'open' AND node IS NULL")
                .fetch_one(self.pool())
                .await
                .map_err(|error| self.failed(error))?;
        Ok(count.unsigned_abs())
    }

    /// Whether the cancellation of a run was requested, and by whom.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub async fn cancel_requested(&self, run_id: &RunId) -> Result<Option<Option<Actor>>> {
        let requested: Option<Option<String>> =
            sqlx::query_scalar("SELECT cancel_by FROM runs WHERE run_id = $1 AND cancel")
                .bind(run_id.as_str())
                .fetch_optional(self.pool())
                .await
                .map_err(|error| self.failed(error))?;
        Ok(requested.map(actor))
    }

    /// Requests that the node that runs the run, or claims it next, cancels it. Returns whether the run is open.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub async fn ask_to_cancel(&self, run_id: &RunId, by: Option<&Actor>) -> Result<bool> {
        let said = by.and_then(|by| serde_json::to_string(by).ok());
        let asked = sqlx::query(
            "UPDATE runs SET cancel = TRUE, cancel_by = coalesce(cancel_by, $2) WHERE run_id = $1 AND status = 'open'",
        )
        .bind(run_id.as_str())
        .bind(said)
        .execute(self.pool())
        .await
        .map_err(|error| self.failed(error))?;
        self.wake().await?;
        Ok(asked.rows_affected() > 0)
    }

    /// The runs of this node whose cancellation was requested.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub async fn runs_to_cancel(&self) -> Result<Vec<(RunId, Option<Actor>)>> {
        let node = self.name();
        let requested: Vec<(String, Option<String>)> = sqlx::query_as(
            "SELECT run_id, cancel_by FROM runs WHERE cancel AND node = $1 AND status = 'open'",
        )
        .bind(&*node)
        .fetch_all(self.pool())
        .await
        .map_err(|error| self.failed(error))?;
        requested.into_iter().map(|(run_id, by)| Ok((run_id.parse()?, actor(by)))).collect()
    }

    /// Lets any node with room resume a paused run.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub async fn reopen(&self, run_id: &RunId) -> Result<()> {
        sqlx::query(
            "UPDATE runs SET status = 'open' WHERE run_id = $1 AND status IN ('paused', 'sleeping') AND node IS NULL",
        )
        .bind(run_id.as_str())
        .execute(self.pool())
        .await
        .map_err(|error| self.failed(error))?;
        self.wake().await
    }

    async fn wake(&self) -> Result<()> {
        let woken = sqlx::query("SELECT pg_notify($1, '')").bind(CHANNEL).execute(self.pool()).await;
        woken.map(drop).map_err(|error| self.failed(error))
    }

    /// Subscribes this node to notifications of new work.
    ///
    /// # Errors
    /// `journal_unavailable`.
    pub async fn alarm(&self) -> Result<Alarm> {
        let listen = async {
            let mut listener = PgListener::connect_with(self.pool()).await?;
            listener.listen(CHANNEL).await?;
            Ok::<_, sqlx::Error>(listener)
        };
        listen.await.map(Alarm).map_err(|error| self.failed(error))
    }
}

/// The actor, from its stored form.
fn actor(said: Option<String>) -> Option<Actor> {
    serde_json::from_str(&said?).ok()
}

/// Notifications of new work.
pub struct Alarm(PgListener);

impl Alarm {
    /// Waits for the next notification, or until the connection was re-established.
    ///
    /// # Errors
    /// `journal_unavailable` where it could not be re-established.
    pub async fn rings(&mut self) -> Result<()> {
        self.0.try_recv().await.map(drop).map_err(|error| unavailable("the database", &error.to_string()))
    }
}
