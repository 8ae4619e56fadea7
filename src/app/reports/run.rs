//! Runs as every edge shows them.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use luaplan_base::{CallId, Error, ErrorCode, Result, RunId, shorten_members};
use luaplan_journal::{
    Actor, EventBody, JournalRead as _, RecordFilter, RunFilter, RunStatus, RunSummary, STEP_EVENTS, StepRun,
    steps_of,
};

use crate::ActiveRuns;
use crate::history::no_such_run;
use crate::runs::restore::cannot_go_on;

/// What a run's own page is made of besides its summary.
const SHOWN_EVENTS: &[&str] =
    &["printed", "approval_resolved", "run_finished", "run_failed", "run_cancelled", "run_not_resumable"];

/// How often a run is looked at that this process does not run, or not now.
const LOOK_AGAIN: Duration = Duration::from_millis(200);

impl ActiveRuns {
    /// `{"runs", "next"}`: summaries, newest first, and the id to continue before where there may be more.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn list(&self, filter: RunFilter) -> Result<Json> {
        let limit = filter.limit;
        let runs = self.app().journal().runs(filter).await?;
        let full = limit.is_some_and(|limit| u32::try_from(runs.len()).is_ok_and(|count| count == limit));
        let next = runs.last().filter(|_| full).map(|run| run.run_id.clone());
        let runs: Vec<Json> = runs
            .iter()
            .map(|run| {
                let mut summary = self.summary(run);
                // A task may be as long as a request; the run's own report has all of it.
                summary.as_object_mut().map(shorten_members);
                summary
            })
            .collect();
        Ok(json!({ "runs": runs, "next": next }))
    }

    /// How far a run has come; `running` where it is not on record yet.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn status(&self, run_id: &RunId) -> Result<RunStatus> {
        let summary = self.app().journal().run_summary(run_id).await?;
        Ok(summary.map_or(RunStatus::Running, |summary| summary.status))
    }

    /// One run: how it stands, its result or error, what it used and printed, what it waits for.
    ///
    /// # Errors
    /// `not_found`, and as reading the journal.
    pub async fn report(&self, run_id: &RunId) -> Result<Json> {
        let Some(summary) = self.app().journal().run_summary(run_id).await? else {
            // Begun, and not yet on record.
            if self.registry().active(run_id).is_some() {
                return Ok(json!({ "run_id": run_id, "status": "running", "under_way_here": true }));
            }
            return Err(no_such_run(run_id));
        };
        let mut report = self.summary(&summary);
        let Json::Object(members) = &mut report else { return Ok(report) };
        let mut printed = String::new();
        for event in self.events(run_id, SHOWN_EVENTS).await? {
            match event {
                EventBody::RunFinished { result, .. } => drop(members.insert("result".into(), result)),
                EventBody::RunFailed { error, .. } => drop(members.insert("error".into(), error)),
                EventBody::RunCancelled { reason, .. } => {
                    members.insert("error".into(), Error::new(ErrorCode::Cancelled, reason).to_json());
                }
                EventBody::RunNotResumable { code, reason, .. } => {
                    let why = json!({ "code": code, "reason": reason });
                    members.insert("not_resumable".into(), why);
                }
                EventBody::Printed { text } => printed.push_str(&text),
                EventBody::ApprovalResolved { call_id, decision, by, reason, .. }
                    if call_id.as_str() == CallId::WHOLE_PLAN =>
                {
                    let said = json!({ "decision": decision, "by": by, "reason": reason });
                    members.insert("plan_decision".into(), said);
                }
                _ => {}
            }
        }
        if summary.status == RunStatus::Paused
            && let Some(run) = self.app().journal().run_state(run_id).await?
        {
            let calls: Vec<_> = run.calls_in_doubt().collect();
            let stuck = cannot_go_on(&run);
            let approvals: Vec<_> = run.pending_approvals().filter(|_| stuck.is_none()).collect();
            let questions: Vec<_> = run.open_questions().filter(|_| stuck.is_none()).collect();
            let mut paused = json!({ "reason": run.paused, "calls_in_doubt": calls, "approvals": approvals });
            if let (false, Some(paused)) = (questions.is_empty(), paused.as_object_mut()) {
                paused.insert("questions".into(), json!(questions));
            }
            if let (Some(error), Some(paused)) = (stuck, paused.as_object_mut()) {
                paused.insert("cannot_go_on".into(), error.to_json());
            }
            members.insert("paused".into(), paused);
        }
        if !printed.is_empty() {
            members.insert("printed".into(), printed.into());
        }
        let steps = self.steps(run_id).await?;
        if !steps.is_empty() {
            members.insert("steps".into(), json!(steps));
        }
        let candidates = self.candidates(run_id).await?;
        if !candidates.is_empty() {
            members.insert("candidates".into(), candidates.into());
        }
        Ok(report)
    }

    /// Waits until a run, in whichever process, has come to its end, to a pause, or to a sleep beyond `until`; its
    /// report. Never comes back while the run continues, nor where the journal does not answer.
    pub async fn report_at_rest(&self, run_id: &RunId, until: Timestamp) -> Json {
        loop {
            // A journal that does not answer now may do so in time.
            if let Ok(Some(summary)) = self.app().journal().run_summary(run_id).await {
                let goes_on = match summary.status {
                    RunStatus::Running => true,
                    RunStatus::Sleeping => summary.wake_at.is_some_and(|wake_at| wake_at < until),
                    _ => false,
                };
                if !goes_on && let Ok(report) = self.report(run_id).await {
                    return report;
                }
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// How the candidates for the run's plan were judged, as the run's outcome says it.
    async fn candidates(&self, run_id: &RunId) -> Result<Vec<Json>> {
        let filter = RecordFilter {
            run_id: Some(run_id.clone()),
            events: vec!["candidate_judged".to_owned()],
            ..RecordFilter::default()
        };
        let records = self.app().journal().records(filter).await?;
        let judged = records.into_iter().filter_map(|record| {
            let Ok(Json::Object(mut judged)) = serde_json::to_value(&record.event.body) else { return None };
            judged.shift_remove("event");
            let mut verdict = Map::from_iter([("candidate".to_owned(), json!(record.event.candidate))]);
            verdict.extend(judged);
            Some(Json::Object(verdict))
        });
        Ok(judged.collect())
    }

    /// The named steps of the plan a run has, with their states.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn steps(&self, run_id: &RunId) -> Result<Vec<StepRun>> {
        let filter = RecordFilter {
            run_id: Some(run_id.clone()),
            events: STEP_EVENTS.iter().map(|name| (*name).to_owned()).collect(),
            ..RecordFilter::default()
        };
        Ok(steps_of(&self.app().journal().records(filter).await?))
    }

    /// The plan a run has, the last one where it was planned again.
    ///
    /// # Errors
    /// `not_found` where there is no such run or it has no plan, and as reading the journal.
    pub async fn plan_source(&self, run_id: &RunId) -> Result<String> {
        match self.events(run_id, &["plan_proposed"]).await?.pop() {
            Some(EventBody::PlanProposed { source, .. }) => Ok(source),
            _ if self.is_known(run_id).await? => Err(Error::new(
                ErrorCode::NotFound,
                format!("run {run_id} has no plan yet, or never got one"),
            )
            .with_help("look at the run itself")),
            _ => Err(no_such_run(run_id)),
        }
    }

    /// Tells a run in the name of `by` to end, whichever process or node executes it; calls under way are journaled as cut. One that
    /// sleeps, waits for a person or has lost its process has ended when this comes back.
    ///
    /// # Errors
    /// `not_found`; `run_not_active` where it has ended.
    pub async fn cancel(&self, run_id: &RunId, by: Option<&Actor>) -> Result<()> {
        if self.registry().cancel_in_place(run_id, by) {
            return Ok(());
        }
        if self.app().journal().run_summary(run_id).await?.is_none() {
            return Err(no_such_run(run_id));
        }
        if let Some(leases) = self.app().history().leases()?
            && leases.ask_to_cancel(run_id, by).await?
        {
            return Ok(());
        }
        self.app().runs().cancel(run_id, by).await
    }

    /// Whether a run of this id has begun, on record or not.
    ///
    /// # Errors
    /// As reading the journal.
    pub async fn is_known(&self, run_id: &RunId) -> Result<bool> {
        Ok(self.registry().active(run_id).is_some()
            || self.app().journal().run_summary(run_id).await?.is_some())
    }

    async fn events(&self, run_id: &RunId, names: &[&str]) -> Result<Vec<EventBody>> {
        let filter = RecordFilter {
            run_id: Some(run_id.clone()),
            events: names.iter().map(|name| (*name).to_owned()).collect(),
            ..RecordFilter::default()
        };
        let records = self.app().journal().records(filter).await?;
        Ok(records.into_iter().map(|record| record.event.body).collect())
    }

    /// The summary, and whether it is this process that runs it: a run whose process died has no end
    /// on record either, and stays `running`.
    fn summary(&self, summary: &RunSummary) -> Json {
        let mut json = serde_json::to_value(summary).unwrap_or_default();
        if let Json::Object(members) = &mut json {
            members.insert("under_way_here".into(), self.registry().active(&summary.run_id).is_some().into());
        }
        json
    }
}
