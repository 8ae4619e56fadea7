//! What a caller may do with runs and what belongs to them: the one place where that is judged.
//!
//! Another tenant's object is answered as one that is not there. A missing scope is refused before anything is
//! looked up, so it says nothing about what there is.

use std::sync::Arc;

use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_bus::{Circumstances, Mode};
use luaplan_journal::{JournalRead as _, RecordFilter, RunFilter, StepRun};
use luaplan_planner::Proposal;

use super::caller::{Caller, Reach, Scope};
use crate::history::no_such_run;
use crate::{
    ActiveRun, ActiveRuns, App, AuditQuery, CallReport, CallResolution, ModeChange, ReplayReport,
    ReplayRequest, ResumeRequest, RunSpec, Work, call_report,
};

/// The use cases, as one caller may use them.
pub struct Access<'a> {
    runs: &'a Arc<ActiveRuns>,
    pub(super) caller: &'a Caller,
}

impl ActiveRuns {
    /// What `caller` may do here.
    #[must_use]
    pub fn access<'a>(self: &'a Arc<Self>, caller: &'a Caller) -> Access<'a> {
        Access { runs: self, caller }
    }
}

impl Access<'_> {
    pub(super) fn app(&self) -> &App {
        self.runs.app()
    }

    /// Lets a caller pass who has one of `scopes` for the run.
    pub(super) async fn may_one(&self, scopes: &[Scope], run_id: &RunId) -> Result<()> {
        let mut reach = None;
        let mut lacking = None;
        for scope in scopes {
            match self.caller.require(*scope) {
                Ok(one) => reach = reach.max(Some(one)),
                Err(error) => lacking = lacking.or(Some(error)),
            }
        }
        let Some(reach) = reach else {
            return Err(lacking.unwrap_or_else(|| no_such_run(run_id)));
        };
        let tenant = match self.app().history().tenant_of(run_id).await? {
            Some(tenant) => Some(tenant),
            // Begun, and not yet on record.
            None => self.runs.registry().active(run_id).map(|run| run.tenant),
        };
        match tenant {
            Some(tenant) if reach == Reach::All || tenant == self.caller.tenant() => Ok(()),
            _ => Err(no_such_run(run_id)),
        }
    }

    pub(super) async fn may(&self, scope: Scope, run_id: &RunId) -> Result<()> {
        self.may_one(&[scope], run_id).await
    }

    /// Lets a caller pass who may look at the run.
    ///
    /// # Errors
    /// `forbidden` without the scope `runs:read`; `not_found` where the caller's tenant has no such run.
    pub async fn may_read(&self, run_id: &RunId) -> Result<()> {
        self.may(Scope::RunsRead, run_id).await
    }

    /// The spec as this caller's own.
    ///
    /// # Errors
    /// `forbidden` without the scope `runs:start`, or `mode:autonomous` where it asks for that mode.
    fn own(&self, mut spec: RunSpec) -> Result<RunSpec> {
        self.caller.require(Scope::RunsStart)?;
        let mode = spec.circumstances.mode;
        if mode == Mode::Autonomous {
            self.caller.require(Scope::ModeAutonomous)?;
        }
        let (tenant, started_by) = (self.caller.tenant().to_owned(), Some(self.caller.actor().clone()));
        spec.circumstances = Circumstances { tenant, mode, started_by };
        Ok(spec)
    }

    /// As [`ActiveRuns::start`], as this caller's run.
    ///
    /// # Errors
    /// `forbidden` without the scope `runs:start`, or `mode:autonomous` where the run asks for that mode; and as
    /// [`ActiveRuns::start`].
    pub async fn start(&self, spec: RunSpec) -> Result<Option<ActiveRun>> {
        self.runs.start(self.own(spec)?).await
    }

    /// As [`crate::Runs::following`].
    ///
    /// # Errors
    /// As [`Access::may_read`], and as [`crate::Runs::following`].
    pub async fn following(&self, run_id: &RunId, spec: RunSpec) -> Result<RunSpec> {
        self.may_read(run_id).await?;
        self.app().runs().following(run_id, spec).await
    }

    /// As [`crate::Runs::propose`], as this caller's run.
    ///
    /// # Errors
    /// As [`Access::start`], and as [`crate::Runs::propose`].
    pub async fn propose(&self, spec: RunSpec) -> Result<Proposal> {
        let spec = self.own(spec)?;
        if let Work::Task(task) = &spec.work {
            self.app().runs().admit_task(task, &spec.planning)?;
        }
        self.app().runs().propose(spec).await
    }

    /// As [`ActiveRuns::list`].
    ///
    /// # Errors
    /// `forbidden` without the scope `runs:read`, and as [`ActiveRuns::list`].
    pub async fn list(&self, filter: RunFilter) -> Result<Json> {
        let tenant = self.caller.only_tenant(Scope::RunsRead)?;
        if let (Some(before), Some(_)) = (&filter.before, &tenant)
            && let Err(error) = self.may_read(before).await
        {
            return match error.code() {
                // As after a run that is not there.
                ErrorCode::NotFound => Ok(serde_json::json!({ "runs": [], "next": null })),
                _ => Err(error),
            };
        }
        self.runs.list(RunFilter { tenant, ..filter }).await
    }

    /// As [`ActiveRuns::report`].
    ///
    /// # Errors
    /// As [`Access::may_read`].
    pub async fn report(&self, run_id: &RunId) -> Result<Json> {
        self.may_read(run_id).await?;
        self.runs.report(run_id).await
    }

    /// How a run stands that this caller was just let act on.
    ///
    /// # Errors
    /// As [`Access::may_read`], for a caller who may neither read, steer nor decide.
    pub async fn report_of_acted_on(&self, run_id: &RunId) -> Result<Json> {
        let scopes = [Scope::RunsRead, Scope::RunsControl, Scope::ApprovalsDecide, Scope::RunsStart];
        self.may_one(&scopes, run_id).await?;
        self.runs.report(run_id).await
    }

    /// As [`call_report`].
    ///
    /// # Errors
    /// As [`Access::may_read`], and as [`call_report`].
    pub async fn call(&self, run_id: &RunId, call_id: &str) -> Result<CallReport> {
        self.may_read(run_id).await?;
        call_report(&**self.app().journal(), run_id, call_id).await
    }

    /// As [`ActiveRuns::plan_source`].
    ///
    /// # Errors
    /// As [`Access::may_read`], and `not_found` for a run without a plan.
    pub async fn plan_source(&self, run_id: &RunId) -> Result<String> {
        self.may_read(run_id).await?;
        self.runs.plan_source(run_id).await
    }

    /// As [`ActiveRuns::steps`].
    ///
    /// # Errors
    /// As [`Access::may_read`].
    pub async fn steps(&self, run_id: &RunId) -> Result<Vec<StepRun>> {
        self.may_read(run_id).await?;
        self.runs.steps(run_id).await
    }

    /// As [`ActiveRuns::cancel`].
    ///
    /// # Errors
    /// `forbidden` without the scope `runs:control`, `not_found`, and as [`ActiveRuns::cancel`].
    pub async fn cancel(&self, run_id: &RunId) -> Result<()> {
        self.may(Scope::RunsControl, run_id).await?;
        self.runs.cancel(run_id, Some(self.caller.actor())).await
    }

    /// As [`crate::Runs::set_mode`].
    ///
    /// # Errors
    /// As [`Access::cancel`], and as [`crate::Runs::set_mode`]; `forbidden` for the mode `autonomous` where the caller lacks
    /// that scope.
    pub async fn set_mode(&self, run_id: &RunId, change: ModeChange) -> Result<ModeChange> {
        if change.mode == Mode::Autonomous {
            self.caller.require(Scope::ModeAutonomous)?;
        }
        self.may(Scope::RunsControl, run_id).await?;
        self.app().runs().set_mode(run_id, change, Some(self.caller.actor())).await
    }

    /// As [`crate::Runs::pause`].
    ///
    /// # Errors
    /// As [`Access::cancel`], and as [`crate::Runs::pause`].
    pub async fn pause(&self, run_id: &RunId) -> Result<()> {
        self.may(Scope::RunsControl, run_id).await?;
        self.app().runs().pause(run_id, Some(self.caller.actor())).await
    }

    /// As [`ActiveRuns::resume`]: with the rights of the run's own tenant. Who says what came of a call in doubt
    /// must be allowed to decide about calls.
    ///
    /// # Errors
    /// As [`Access::cancel`], and as [`ActiveRuns::resume`].
    pub async fn resume(&self, request: ResumeRequest) -> Result<ActiveRun> {
        self.may(Scope::RunsControl, &request.run_id).await?;
        self.may_say(&request.run_id, &request.resolutions).await?;
        self.runs.resume(ResumeRequest { by: Some(self.caller.actor().clone()), ..request }).await
    }

    /// Lets a caller pass who may say what came of calls in doubt.
    async fn may_say(&self, run_id: &RunId, resolutions: &[CallResolution]) -> Result<()> {
        if resolutions.is_empty() {
            return Ok(());
        }
        self.may(Scope::ApprovalsDecide, run_id).await?;
        self.app().approvals().may_decide(run_id, self.caller.actor()).await
    }

    /// Resumes a run that this caller has just decided about.
    ///
    /// # Errors
    /// As [`Access::decide`], and as [`ActiveRuns::resume`].
    pub async fn resume_decided(&self, request: ResumeRequest) -> Result<ActiveRun> {
        self.may(Scope::ApprovalsDecide, &request.run_id).await?;
        let request =
            ResumeRequest { resolutions: Vec::new(), by: Some(self.caller.actor().clone()), ..request };
        self.runs.resume(request).await
    }

    /// As [`crate::Runs::start_over`]: the new run is of the same tenant as the first, and started by this caller.
    ///
    /// # Errors
    /// As [`Access::cancel`], and as [`crate::Runs::start_over`]; `forbidden` for a run in the mode `autonomous` where the
    /// caller lacks that scope.
    pub async fn start_over(&self, run_id: &RunId, repeat_effects: bool) -> Result<RunSpec> {
        self.may(Scope::RunsControl, run_id).await?;
        let mut request = self.app().runs().start_over(run_id, repeat_effects).await?;
        if request.circumstances.mode == Mode::Autonomous {
            self.caller.require(Scope::ModeAutonomous)?;
        }
        request.circumstances.started_by = Some(self.caller.actor().clone());
        Ok(request)
    }

    /// Begins the run that starts `first` over, and ends `first` where it is not over.
    ///
    /// # Errors
    /// As [`Access::cancel`], and as [`ActiveRuns::start`].
    pub async fn replace(&self, first: &RunId, spec: RunSpec) -> Result<Option<ActiveRun>> {
        self.may(Scope::RunsControl, first).await?;
        let (runs, first, by) = (self.runs.clone(), first.clone(), self.caller.actor().clone());
        // To its end even where the caller goes away: else both runs would continue.
        let both = tokio::spawn(async move {
            let run = runs.start(spec).await?;
            runs.app().runs().cancel_unless_over(&first, Some(&by)).await?;
            Ok(run)
        });
        both.await.unwrap_or_else(|_| Err(Error::new(ErrorCode::Internal, "the reset broke off")))
    }

    /// Ends `first`, where it is not over, in favour of a run that has begun in its place.
    ///
    /// # Errors
    /// As [`Access::cancel`].
    pub async fn end_started_over(&self, first: &RunId) -> Result<()> {
        self.may(Scope::RunsControl, first).await?;
        self.app().runs().cancel_unless_over(first, Some(self.caller.actor())).await
    }

    /// Whether this caller may end a run.
    pub async fn may_cancel(&self, run_id: &RunId) -> bool {
        self.may(Scope::RunsControl, run_id).await.is_ok()
    }

    /// As [`crate::Runs::replay`].
    ///
    /// # Errors
    /// As [`Access::cancel`], and as [`crate::Runs::replay`].
    pub async fn replay(&self, request: ReplayRequest) -> Result<ReplayReport> {
        self.may(Scope::RunsControl, &request.run_id).await?;
        self.app().runs().replay(request).await
    }

    /// Records of the audit log.
    ///
    /// # Errors
    /// `forbidden` without the scope `audit:read`; `bad_request`, and as reading the journal.
    pub async fn audit(&self, query: AuditQuery) -> Result<Json> {
        let tenant = self.caller.only_tenant(Scope::AuditRead)?;
        let known: Vec<&str> = self.app().tools().catalog().names().collect();
        self.app().history().audit(query, tenant, &known).await
    }

    /// One record of a run, by its place in the audit log.
    ///
    /// # Errors
    /// `forbidden` without the scope `audit:read`; `not_found`, and as reading the journal.
    pub(super) async fn record(&self, run_id: &RunId, sequence: &str) -> Result<Json> {
        let tenant = self.caller.only_tenant(Scope::AuditRead)?;
        let missing = || Error::new(ErrorCode::NotFound, format!("run {run_id} has no record `{sequence}`"));
        let wanted: u64 = sequence.parse().map_err(|_| missing())?;
        let filter = RecordFilter {
            run_id: Some(run_id.clone()),
            tenant,
            after_sequence: Some(wanted.checked_sub(1).ok_or_else(missing)?),
            limit: Some(1),
            ..RecordFilter::default()
        };
        let found =
            self.app().journal().records(filter).await?.pop().filter(|record| record.sequence == wanted);
        found.and_then(|record| serde_json::to_value(record).ok()).ok_or_else(missing)
    }
}
