//! Putting a run on record before anybody is told that it began, so that whoever comes after this process can
//! go on with it.

use std::sync::Arc;

use tokio::time::Instant;

use luaplan_base::{ContentHash, Error, ErrorCode, Result, Value};
use luaplan_bus::RunBudget;
use luaplan_journal::{Durability, EventBody, JournalRead as _, RunLog, RunState};
use luaplan_plan::CheckReport;

use super::App;
use super::resume::TakenUp;
use super::runs::{Run, RunRequest, Work};

impl App {
    /// Records that a run begins, with all that is needed to run it, on the disk in one go. What is begun must
    /// go on, or be left to other nodes. `checked` is what the check found, where it has looked.
    ///
    /// # Errors
    /// As writing the journal; `bad_request` for the name of a context that cannot be one.
    pub(super) async fn begin(&self, request: RunRequest, checked: Option<CheckReport>) -> Result<TakenUp> {
        let log = self.new_log(&request.run_id, &request.listeners).await?;
        // Before its first record, as a run on record that nobody is at is taken up.
        self.running.insert(&log, &request.cancel, None);
        match self.recorded_begin(&request, &log).await {
            Ok((context, state)) => {
                let request = RunRequest { context: Some(context), ..request };
                Ok(TakenUp { request, log, state, checked })
            }
            Err(error) => {
                self.running.remove(&request.run_id);
                Err(error)
            }
        }
    }

    async fn recorded_begin(&self, request: &RunRequest, log: &RunLog) -> Result<(Value, RunState)> {
        let context = self.record_begin(request, log).await?;
        let state = self.journal.run_state(&request.run_id).await?;
        let state = state.ok_or_else(|| Error::new(ErrorCode::Internal, "a run begun is not on record"))?;
        Ok((context, state))
    }

    async fn record_begin(&self, request: &RunRequest, log: &RunLog) -> Result<Value> {
        let budget = Arc::new(RunBudget::new(request.limits.clone(), 0));
        let run = Run {
            app: self,
            request,
            log,
            budget: &budget,
            started: Instant::now(),
            resumed: None,
            checked: None,
            agent: None,
        };
        let context = run.context().await?;
        match &request.work {
            Work::Task(_) => run.record_start(&context, None, None, Durability::Forced).await?,
            Work::Plan { name, source } => {
                let plan_hash = ContentHash::of(source.as_bytes());
                run.record_start(&context, Some(name), Some(&plan_hash), Durability::Queued).await?;
                let proposed = EventBody::PlanProposed {
                    round: 0,
                    source: source.clone(),
                    plan_hash,
                    explanation: None,
                };
                log.emit(proposed, Durability::Forced).await?;
            }
        }
        Ok(context)
    }

    /// Whether another node could go on with the run from what is on record of it: no secret stands in it, and
    /// it asks for nothing that is not recorded.
    pub(super) fn can_be_left(&self, request: &RunRequest) -> bool {
        let mut whole = serde_json::json!({
            "context": request.context.as_ref().map(Value::to_exact_json),
            "plan": match &request.work {
                Work::Task(task) => task,
                Work::Plan { source, .. } => source,
            },
            "planning": request.planning.to_record(),
        });
        let before = whole.clone();
        self.redactor.arguments(&mut whole);
        // Tests lie in a file of this machine.
        whole == before && request.handler.is_none() && request.planning.tests.is_none()
    }

    /// Leaves a run that was begun to whichever node has room.
    ///
    /// # Errors
    /// `journal_unavailable`; others then take it up once this node's lease has run out.
    pub(super) async fn leave(&self, begun: TakenUp) -> Result<()> {
        self.running.remove(&begun.request.run_id);
        begun.log.release_lease().await
    }
}
