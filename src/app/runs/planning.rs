//! The planning part of a run: a task becomes a checked plan, and again where its run failed.

use luaplan_base::{ContentHash, Error, ErrorCode, Result, Value};
use luaplan_bus::Mode;
use luaplan_journal::{Durability, EventBody};
use luaplan_plan::{CheckReport, CheckedPlan};
use luaplan_planner::{PastRun, Planned, PlanningRequest, Proposal, Revision};
use luaplan_testkit::count_tests;

use super::candidate_eval::RunTrials;
use crate::models::PlanningPlace;
use crate::plans::check::{PlanOf, PlannedFor, accept, findings_json};
use crate::runs::run::Run;
use crate::runs::spec::{RevisedPlan, RunSpec, Work};

impl Run<'_> {
    /// A checked plan for the run's task.
    pub(crate) async fn propose(&self) -> Result<Proposal> {
        only_plan(self.propose_first(false).await?)
    }

    /// As [`Run::propose`], or what the model asks first.
    pub(crate) async fn propose_asking(&self) -> Result<Planned> {
        self.propose_first(true).await
    }

    /// A checked plan for the run's task, in place of an earlier one.
    pub(crate) async fn propose_after(&self, revision: &Revision) -> Result<Proposal> {
        only_plan(self.propose_with(Some(revision), false).await?)
    }

    async fn propose_first(&self, may_ask: bool) -> Result<Planned> {
        match &self.spec.planning.revises {
            Some(old) => self.propose_with(Some(&self.revision(old).await?), may_ask).await,
            None => self.propose_with(None, may_ask).await,
        }
    }

    /// A plan that is to be changed, with what the check finds of it now.
    pub(crate) async fn revision(&self, old: &RevisedPlan) -> Result<Revision> {
        let RunSpec { circumstances, limits, .. } = self.spec;
        let (tenant, context, source) = (circumstances.tenant.as_str(), self.context(), old.source.as_str());
        let plan = PlanOf { tenant, name: "plan", source, limits, context: Some(&context) };
        let CheckReport { findings, .. } = self.runs.plans.check_of_run(plan).await?;
        let RevisedPlan { source, task, influenced_by } = old.clone();
        Ok(Revision { source, task, findings, influenced_by, rejected: Vec::new(), done: Vec::new() })
    }

    async fn propose_with(&self, revision: Option<&Revision>, may_ask: bool) -> Result<Planned> {
        let Work::Task(task) = &self.spec.work else {
            return Err(Error::new(ErrorCode::Internal, "a saved plan is not planned"));
        };
        let (limits, context) = (&self.spec.limits, self.context());
        let notes = self.runs.models.notes(&self.spec.planning.prompts).await?;
        let (models, place) = (&self.runs.models, self.planning_place().await);
        let request = models.planning_request(task, &context, &place, limits);
        let answered = self.answered();
        let (samples, is_autonomous) = (&self.spec.planning.samples, self.is_autonomous());
        let wanted = PlanningRequest {
            notes: &notes,
            samples,
            revision,
            answered: &answered,
            may_ask,
            is_autonomous,
            ..request
        };
        self.plan(&wanted).await
    }

    /// What the model is told of the place; the day is that of the recorded start, also where the run goes on later.
    async fn planning_place(&self) -> PlanningPlace {
        let started_at = self.started_at().unwrap_or_else(|| self.runs.history.now());
        self.runs.models.place(started_at, &self.spec.circumstances.tenant).await
    }

    /// Checks a saved plan, or takes what was found for the request, and puts it on record.
    pub(crate) async fn check_saved(&self, name: &str, source: &str, context: &Value) -> Result<CheckedPlan> {
        let hash = ContentHash::of(source.as_bytes());
        let RunSpec { circumstances, limits, .. } = self.spec;
        let tenant = circumstances.tenant.as_str();
        let plan = PlanOf { tenant, name, source, limits, context: Some(context) };
        // A report of another plan says nothing about this one.
        let handed_on = self
            .spec
            .checked
            .as_ref()
            .filter(|report| report.plan.as_ref().is_some_and(|checked| *checked.hash() == hash));
        let report = match handed_on {
            Some(report) => report.clone(),
            None => self.runs.plans.check_of_run(plan).await?,
        };
        // The run of an agent may have been broken off before its plan was on record.
        if self.resumed.is_some_and(|state| state.source.as_deref() != Some(source)) {
            let proposed = EventBody::PlanProposed {
                round: 0,
                source: source.to_owned(),
                plan_hash: hash.clone(),
                explanation: None,
                influenced_by: Vec::new(),
            };
            self.log.emit(proposed, Durability::Queued).await?;
        }
        let checked = EventBody::PlanChecked {
            plan_hash: hash.clone(),
            ok: report.plan.is_some(),
            findings: findings_json(&report),
        };
        self.log.emit(checked, Durability::Queued).await?;
        for finding in report.findings.iter().filter(|finding| finding.reaches_out()) {
            let violation = EventBody::SandboxViolation { message: finding.message.clone() };
            self.log.emit(violation, Durability::Queued).await?;
        }
        accept(report, source, &self.spec.limits)
    }

    async fn plan(&self, wanted: &PlanningRequest<'_>) -> Result<Planned> {
        let planner = self.runs.models.planner()?;
        let RunSpec { planning, limits, cancel, .. } = self.spec;
        planning.validate()?;
        let candidates = planning.candidates.unwrap_or(self.runs.config.candidates);
        if let Some(tests) = &planning.tests {
            // Before a model is paid for plans that could not be tested.
            count_tests(tests, &self.runs.tools.catalog, limits).await?;
        }
        for sample in wanted.samples {
            let (from, data_hash) = (sample.from.clone(), sample.hash());
            let shared = EventBody::SampleShared { from, data_hash, bytes: sample.text().len() as u64 };
            self.log.emit(shared, Durability::Ordered).await?;
        }
        let PlanningRequest { task, context, answered, .. } = *wanted;
        // What the person answered is theirs, as the task is: addresses in it are not the model's.
        let answers = answered.iter().map(|answered| answered.answer.as_str());
        let task = [task].into_iter().chain(answers).collect::<Vec<_>>().join("\n");
        let task = task.as_str();
        let tenant = &self.spec.circumstances.tenant;
        let circumstances = &self.spec.circumstances;
        let check = PlannedFor { plans: &self.runs.plans, circumstances, task, limits, context };
        let tests = planning.tests.as_deref();
        let trials = RunTrials { runs: self.runs, tenant, limits, context: wanted.context, tests };
        let planning = async {
            if candidates > 1 || trials.tests.is_some() {
                let best = planner.best_of(candidates, wanted, &check, &trials, self.log, self.budget).await;
                best.map(|proposal| Planned::Plan(Box::new(proposal)))
            } else {
                planner.plan_or_ask(wanted, &check, self.log, self.budget).await
            }
        };
        tokio::select! {
            biased;
            () = cancel.cancelled() => Err(Error::cancelled()),
            planned = tokio::time::timeout(self.runs.config.planning_timeout, planning) => {
                planned.unwrap_or_else(|_| Err(self.planning_took_too_long()))
            }
        }
    }

    fn planning_took_too_long(&self) -> Error {
        let limit_ms = u64::try_from(self.runs.config.planning_timeout.as_millis()).unwrap_or(u64::MAX);
        Error::new(ErrorCode::LlmTimeout, "no plan was found in the time planning may take")
            .with_limit(limit_ms, u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX))
            .with_help("raise `planner.timeout`, or use a faster model")
    }

    /// Whether the plan is told of iterations; where the mode is switched later the next plan is.
    fn is_autonomous(&self) -> bool {
        self.spec.circumstances.mode == Mode::Autonomous
    }

    /// A checked plan for the task after a run of another.
    pub(crate) async fn plan_after(&self, past: &PastRun, context: &Value) -> Result<Proposal> {
        let Work::Task(task) = &self.spec.work else {
            return Err(Error::new(ErrorCode::Internal, "a saved plan is not planned"));
        };
        let (models, place) = (&self.runs.models, self.planning_place().await);
        let answered = self.answered();
        let request = PlanningRequest {
            past: Some(past),
            samples: &self.spec.planning.samples,
            answered: &answered,
            is_autonomous: self.is_autonomous(),
            ..models.planning_request(task, context, &place, &self.spec.limits)
        };
        self.plan(&request).await.and_then(only_plan)
    }
}

/// The plan of a model that may not ask.
fn only_plan(planned: Planned) -> Result<Proposal> {
    match planned {
        Planned::Plan(proposal) => Ok(*proposal),
        Planned::Asks(_) => Err(Error::new(ErrorCode::Internal, "a model asked that may not ask")),
    }
}
