//! Checking and explaining plans, for every edge and for runs.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode, LimitName, Limits, Result, Value, counted};
use luaplan_catalog::Catalog;
use luaplan_journal::Redactor;
use luaplan_plan::{CheckInput, CheckReport, CheckedPlan, admit_accepted, check_with};
use luaplan_planner::Check;

use super::analysis_pool::{AnalysisPool, Waiting};
use super::explain::Explanation;
use crate::config::Config;
use crate::tools::toolbox::Toolbox;

/// A submitted plan, and what it is checked against.
#[derive(Debug, Clone, Copy)]
pub struct PlanOf<'a> {
    /// Whose plan it is: each has a queue of his own.
    pub tenant: &'a str,
    /// What messages call it: a file name, or `plan`.
    pub name: &'a str,
    /// Its source.
    pub source: &'a str,
    /// The limits it is to run under.
    pub limits: &'a Limits,
    /// The context it is to run with, where that is known.
    pub context: Option<&'a Value>,
}

/// The check of plans, by the tools and the engine in force. Cheap to clone.
#[derive(Clone)]
pub struct Plans {
    pub(crate) config: Arc<Config>,
    pub(crate) tools: Toolbox,
    pub(crate) redactor: Arc<Redactor>,
    pub(crate) analysis: Arc<AnalysisPool>,
}

impl Plans {
    /// Checks a plan against the tools and the engine in force, and against the shape of the context it is to run
    /// with, where there is one. Computes on the thread that asks; async code asks [`Plans::check_for`].
    #[must_use]
    pub fn check(&self, source: &str, name: &str, limits: &Limits, context: Option<&Value>) -> CheckReport {
        let input = CheckInput { source, name, catalog: &self.tools.catalog, limits, context, task: None };
        judged(&self.config, &input)
    }

    /// Checks a plan and says what it would do. Computes on the thread that asks; async code asks
    /// [`Plans::explain_for`].
    #[must_use]
    pub fn explain(&self, source: &str, name: &str, limits: &Limits, context: Option<&Value>) -> Explanation {
        super::explain::explain(&self.config, &self.tools.catalog, (name, source), limits, context)
    }

    /// How many plans were checked or explained on the threads of the analysis since this application was opened.
    #[must_use]
    pub fn analyses_made(&self) -> u64 {
        self.analysis.made()
    }

    /// As [`Plans::check`], on a thread of the analysis.
    ///
    /// # Errors
    /// `analysis_busy` where too many requests wait.
    pub async fn check_for(&self, plan: PlanOf<'_>) -> Result<CheckReport> {
        self.analysed(plan.tenant, Waiting::Request, Analysed::of(plan, None)).await
    }

    /// As [`Plans::explain`], on a thread of the analysis.
    ///
    /// # Errors
    /// `analysis_busy` where too many requests wait.
    pub async fn explain_for(&self, plan: PlanOf<'_>) -> Result<Explanation> {
        self.explained(plan, Waiting::Request).await
    }

    /// As [`Plans::explain_for`], of a run that is under way: it waits for its turn however many wait.
    pub(crate) async fn explain_of_run(&self, plan: PlanOf<'_>) -> Result<Explanation> {
        self.explained(plan, Waiting::Run).await
    }

    async fn explained(&self, plan: PlanOf<'_>, waiting: Waiting) -> Result<Explanation> {
        let (config, catalog) = (Arc::clone(&self.config), Arc::clone(&self.tools.catalog));
        // What is said of a plan is shortened, and a part of a secret is not known as one.
        let source = self.redactor.exact_text(plan.source);
        let Analysed { name, source, limits, context, .. } =
            Analysed::of(PlanOf { source: &source, ..plan }, None);
        let work =
            move || super::explain::explain(&config, &catalog, (&name, &source), &limits, context.as_ref());
        self.analysis.run(plan.tenant, waiting, work).await
    }

    /// A plan that may run.
    ///
    /// # Errors
    /// `limit_source` where it is too long, `check_refused` with the `findings`, `analysis_busy` where too many
    /// requests wait.
    pub async fn checked_for(&self, plan: PlanOf<'_>) -> Result<CheckedPlan> {
        accept(self.check_for(plan).await?, plan.source, plan.limits)
    }

    /// What the check found of a plan that may run.
    ///
    /// # Errors
    /// As [`Plans::checked_for`].
    pub async fn accepted_for(&self, plan: PlanOf<'_>) -> Result<CheckReport> {
        let report = self.check_for(plan).await?;
        accept(report.clone(), plan.source, plan.limits)?;
        Ok(report)
    }

    /// A plan whose acceptance is on record with its hash, for resuming its run or replaying it. It is not
    /// judged again: what it was accepted for is done already.
    ///
    /// # Errors
    /// `limit_source`, `check_refused` where it cannot run here: no Lua, or nothing this engine has.
    pub(crate) async fn accepted_before(&self, plan: PlanOf<'_>) -> Result<CheckedPlan> {
        let sandbox = self.config.sandbox;
        let Analysed { name, source, limits, .. } = Analysed::of(plan, None);
        let work = move || sandbox.judge(admit_accepted(&source, &name, &limits), &source);
        accept(self.analysis.run(plan.tenant, Waiting::Run, work).await?, plan.source, plan.limits)
    }

    /// As [`Plans::check_for`], of a run that is under way: it waits for its turn however many wait.
    pub(crate) async fn check_of_run(&self, plan: PlanOf<'_>) -> Result<CheckReport> {
        self.analysed(plan.tenant, Waiting::Run, Analysed::of(plan, None)).await
    }

    async fn analysed(&self, tenant: &str, waiting: Waiting, plan: Analysed) -> Result<CheckReport> {
        let (config, catalog) = (Arc::clone(&self.config), Arc::clone(&self.tools.catalog));
        self.analysis.run(tenant, waiting, move || plan.checked(&config, &catalog)).await
    }
}

/// A plan and what it is held against, on its way to another thread.
struct Analysed {
    name: String,
    source: String,
    limits: Limits,
    context: Option<Value>,
    task: Option<String>,
}

impl Analysed {
    fn of(plan: PlanOf<'_>, task: Option<&str>) -> Self {
        Self {
            name: plan.name.to_owned(),
            source: plan.source.to_owned(),
            limits: plan.limits.clone(),
            context: plan.context.cloned(),
            task: task.map(str::to_owned),
        }
    }

    fn checked(&self, config: &Config, catalog: &Catalog) -> CheckReport {
        let Self { name, source, limits, context, task } = self;
        let (context, task) = (context.as_ref(), task.as_deref());
        judged(config, &CheckInput { source, name, catalog, limits, context, task })
    }
}

fn judged(config: &Config, input: &CheckInput<'_>) -> CheckReport {
    config.sandbox.judge(check_with(input), input.source)
}

/// The check of plans that were made for a task.
pub(crate) struct PlannedFor<'a> {
    pub(crate) plans: &'a Plans,
    pub(crate) tenant: &'a str,
    pub(crate) task: &'a str,
    pub(crate) limits: &'a Limits,
    pub(crate) context: &'a Value,
}

#[async_trait]
impl Check for PlannedFor<'_> {
    async fn check(&self, source: &str) -> Result<CheckReport> {
        let Self { plans, tenant, task, limits, context } = *self;
        let plan = PlanOf { tenant, name: "plan", source, limits, context: Some(context) };
        plans.analysed(tenant, Waiting::Run, Analysed::of(plan, Some(task))).await
    }
}

/// The plan of a check, or why there is none.
pub(crate) fn accept(report: CheckReport, source: &str, limits: &Limits) -> Result<CheckedPlan> {
    let size_bytes = source.len() as u64;
    if size_bytes > limits.source_bytes {
        return Err(LimitName::Source.exceeded(limits.source_bytes, size_bytes));
    }
    let findings = findings_json(&report);
    let count = report.errors().count();
    report.plan.ok_or_else(|| {
        Error::new(
            ErrorCode::CheckRefused,
            format!("the check found {} in the plan", counted(count, "error")),
        )
        .with_detail("findings", findings)
    })
}

/// Findings as every edge prints them.
#[must_use]
pub(crate) fn findings_json(report: &CheckReport) -> Json {
    serde_json::to_value(&report.findings).unwrap_or_default()
}
