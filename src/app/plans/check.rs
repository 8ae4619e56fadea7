//! Checking and explaining plans, for every edge and for runs.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value as Json;

use luaplan_base::{Error, ErrorCode, LimitName, Limits, Result, Value, counted};
use luaplan_bus::{Circumstances, LOCAL_TENANT, Policy, Registry};
use luaplan_catalog::Catalog;
use luaplan_journal::Redactor;
use luaplan_plan::parameters::context_of_check;
use luaplan_plan::{CheckInput, CheckReport, CheckedPlan, KnownResult, Remark, Severity, admit_accepted};
use luaplan_planner::Check;

use super::analysis_pool::{AnalysisPool, Waiting};
use super::explain::Explanation;
use super::held::{Checked, held, policy_of};
use super::statements::{Told, Unasked, looked_at};
use super::world::{Foreseen, World};
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
    /// Checks a plan against the tools, their configuration, the policy and the engine in force, and against the shape of
    /// the context it is to run with, where there is one. Computes on the thread that asks; async code asks
    /// [`Plans::check_for`].
    #[must_use]
    pub fn check(&self, source: &str, name: &str, limits: &Limits, context: Option<&Value>) -> CheckReport {
        let plan = PlanOf { tenant: LOCAL_TENANT, name, source, limits, context };
        self.analysis_of_submitted(plan).checked().report
    }

    /// Checks a plan and says what it would do. Computes on the thread that asks; async code asks
    /// [`Plans::explain_for`].
    #[must_use]
    pub fn explain(&self, source: &str, name: &str, limits: &Limits, context: Option<&Value>) -> Explanation {
        let plan = PlanOf { tenant: LOCAL_TENANT, name, source, limits, context };
        self.analysis_of_submitted(plan).explained().0
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
        let analysis = self.analysis_of_submitted(plan);
        Ok(self.analysed(plan.tenant, Waiting::Request, analysis).await?.report)
    }

    /// As [`Plans::check_for`], and the databases look at the statements of the plan. Nothing is executed.
    ///
    /// # Errors
    /// As [`Plans::check_for`].
    pub async fn check_live_for(&self, plan: PlanOf<'_>) -> Result<CheckReport> {
        self.held_live(self.analysis_of_submitted(plan), Waiting::Request, Unasked::Told).await
    }

    /// As [`Plans::explain`], on a thread of the analysis.
    ///
    /// # Errors
    /// `analysis_busy` where too many requests wait.
    pub async fn explain_for(&self, plan: PlanOf<'_>) -> Result<Explanation> {
        Ok(self.explained(plan, Waiting::Request).await?.0)
    }

    /// As [`Plans::explain_for`], of a run that is under way: it waits for its turn however many wait.
    pub(crate) async fn explain_of_run(&self, plan: PlanOf<'_>) -> Result<Explanation> {
        Ok(self.explained(plan, Waiting::Run).await?.0)
    }

    /// As [`Plans::explain_for`], and the databases look at the statements of the plan. Nothing is executed.
    ///
    /// # Errors
    /// As [`Plans::explain_for`].
    pub async fn explain_live_for(&self, plan: PlanOf<'_>) -> Result<Explanation> {
        let source = self.redactor.exact_text(plan.source);
        let analysis = self.analysis_of_submitted(PlanOf { source: &source, ..plan });
        let first = analysis.clone();
        let (mut explanation, foreseen) =
            self.analysis.run(plan.tenant, Waiting::Request, move || first.explained()).await?;
        let Told { remarks, results } = looked_at(&self.tools, &foreseen, &source, Unasked::Told).await;
        if !results.is_empty() {
            let again = Analysis { results, ..analysis };
            let explained = self.analysis.run(plan.tenant, Waiting::Request, move || again.explained());
            explanation = explained.await?.0;
        }
        if remarks.iter().any(|remark| remark.severity == Severity::Error) {
            explanation.preview = None;
        }
        let report = CheckReport { findings: explanation.findings, plan: None, shapes: Vec::new() };
        let report = self.with_remarks(plan.tenant, Waiting::Request, report, &source, remarks).await?;
        Ok(Explanation { findings: report.findings, ..explanation })
    }

    async fn explained(&self, plan: PlanOf<'_>, waiting: Waiting) -> Result<(Explanation, Vec<Foreseen>)> {
        // What is said of a plan is shortened, and a part of a secret is not known as one.
        let source = self.redactor.exact_text(plan.source);
        let analysis = self.analysis_of_submitted(PlanOf { source: &source, ..plan });
        self.analysis.run(plan.tenant, waiting, move || analysis.explained()).await
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
        let (name, source, limits) = (plan.name.to_owned(), plan.source.to_owned(), plan.limits.clone());
        let work = move || sandbox.judge(admit_accepted(&source, &name, &limits), &source);
        accept(self.analysis.run(plan.tenant, Waiting::Run, work).await?, plan.source, plan.limits)
    }

    /// As [`Plans::check_for`], of a run that is under way: it waits for its turn however many wait.
    pub(crate) async fn check_of_run(&self, plan: PlanOf<'_>) -> Result<CheckReport> {
        let analysis = self.analysis_of(plan);
        Ok(self.analysed(plan.tenant, Waiting::Run, analysis).await?.report)
    }

    /// Of a plan whose context gets the defaults of its parameters when it runs.
    fn analysis_of_submitted(&self, plan: PlanOf<'_>) -> Analysis {
        let context = context_of_check(plan.source, plan.context);
        Analysis { context, ..self.analysis_of(plan) }
    }

    fn analysis_of(&self, plan: PlanOf<'_>) -> Analysis {
        let circumstances = Circumstances { tenant: plan.tenant.to_owned(), ..Circumstances::default() };
        Analysis {
            name: plan.name.to_owned(),
            source: plan.source.to_owned(),
            limits: plan.limits.clone(),
            context: plan.context.cloned(),
            task: None,
            results: Vec::new(),
            refused: Severity::Warning,
            config: Arc::clone(&self.config),
            catalog: Arc::clone(&self.tools.catalog),
            registry: Arc::clone(&self.tools.registry),
            policy: policy_of(&self.config, circumstances),
        }
    }

    /// Checks a plan, asks the databases about its statements, and checks it again by what they tell of results.
    async fn held_live(&self, analysis: Analysis, waiting: Waiting, unasked: Unasked) -> Result<CheckReport> {
        let (tenant, source) = (analysis.policy.circumstances.tenant.clone(), analysis.source.clone());
        let Checked { mut report, foreseen } = self.analysed(&tenant, waiting, analysis.clone()).await?;
        let Told { remarks, results } = looked_at(&self.tools, &foreseen, &source, unasked).await;
        if !results.is_empty() {
            report = self.analysed(&tenant, waiting, Analysis { results, ..analysis }).await?.report;
        }
        self.with_remarks(&tenant, waiting, report, &source, remarks).await
    }

    async fn analysed(&self, tenant: &str, waiting: Waiting, analysis: Analysis) -> Result<Checked> {
        self.analysis.run(tenant, waiting, move || analysis.checked()).await
    }

    async fn with_remarks(
        &self,
        tenant: &str,
        waiting: Waiting,
        report: CheckReport,
        source: &str,
        remarks: Vec<Remark>,
    ) -> Result<CheckReport> {
        if remarks.is_empty() {
            return Ok(report);
        }
        let source = source.to_owned();
        self.analysis.run(tenant, waiting, move || report.with_remarks(&source, remarks)).await
    }
}

/// A plan and what it is held against, on its way to another thread.
#[derive(Clone)]
struct Analysis {
    name: String,
    source: String,
    limits: Limits,
    context: Option<Value>,
    task: Option<String>,
    /// What the databases told of results.
    results: Vec<KnownResult>,
    /// How bad a call is that is refused whatever happens.
    refused: Severity,
    config: Arc<Config>,
    catalog: Arc<Catalog>,
    registry: Arc<Registry>,
    policy: Policy,
}

impl Analysis {
    fn checked(&self) -> Checked {
        self.in_world(|world, input| held(&self.config, world, input, self.refused))
    }

    fn explained(&self) -> (Explanation, Vec<Foreseen>) {
        self.in_world(|world, input| super::explain::explained(&self.config, world, input))
    }

    fn in_world<T>(&self, look: impl FnOnce(&World<'_>, &CheckInput<'_>) -> T) -> T {
        let Self { name, source, limits, context, task, catalog, results, .. } = self;
        let (context, task, results) = (context.as_ref(), task.as_deref(), results.as_slice());
        let tool = |name: &str| self.registry.get(name).cloned();
        let world = World { catalog, policy: self.policy.clone(), tool: &tool };
        look(&world, &CheckInput { source, name, catalog, limits, context, task, results })
    }
}

/// The check of plans that were made for a task.
pub(crate) struct PlannedFor<'a> {
    pub(crate) plans: &'a Plans,
    pub(crate) circumstances: &'a Circumstances,
    pub(crate) task: &'a str,
    pub(crate) limits: &'a Limits,
    pub(crate) context: &'a Value,
}

#[async_trait]
impl Check for PlannedFor<'_> {
    /// What is refused whatever happens is an error here: the model can still write another plan.
    async fn check(&self, source: &str) -> Result<CheckReport> {
        let Self { plans, circumstances, task, limits, context } = *self;
        let tenant = circumstances.tenant.as_str();
        let plan = PlanOf { tenant, name: "plan", source, limits, context: Some(context) };
        let analysis = Analysis {
            task: Some(task.to_owned()),
            refused: Severity::Error,
            policy: policy_of(&plans.config, circumstances.clone()),
            ..plans.analysis_of(plan)
        };
        plans.held_live(analysis, Waiting::Run, Unasked::Ignored).await
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
