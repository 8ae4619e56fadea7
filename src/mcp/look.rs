//! Tools that answer from what is there.

use rmcp::model::CallToolResult;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::answer::done;
use super::arguments::{Audit, Cancel, Check, Explain, ListApprovals, ListRuns, SearchTools, Status};
use super::follow::until_ended;
use super::server::McpServer;
use super::work::{Context, caller_of, value, wait_of};
use crate::app::{AuditWishes, bounded};
use crate::base::{Result, RunId};
use crate::catalog::{ToolSpec, search};
use crate::journal::{RunFilter, RunStatus};
use crate::sandbox::LIBRARY_STUBS;

const RUNS_DEFAULT: u32 = 20;
const RUNS_MAX: u32 = 500;

const TOOLS_DEFAULT: u32 = 10;
const TOOLS_MAX: u32 = 100;

impl McpServer {
    pub(super) async fn check(&self, args: Check, context: &Context) -> Result<CallToolResult> {
        let tenant = caller_of(context).tenant().to_owned();
        let shape = value(args.context)?;
        let limits = &self.app().config().limits;
        let report = self.app().check_for(&tenant, ("plan", &args.plan), limits, shape.as_ref()).await?;
        Ok(done(json!({ "ok": report.plan.is_some(), "findings": report.findings })))
    }

    pub(super) async fn explain(&self, args: Explain, context: &Context) -> Result<CallToolResult> {
        let tenant = caller_of(context).tenant().to_owned();
        let shape = value(args.context)?;
        let limits = self.limits(args.limits.as_ref())?;
        let explanation =
            self.app().explain_for(&tenant, ("plan", &args.plan), &limits, shape.as_ref()).await?;
        Ok(done(explanation.to_json()))
    }

    pub(super) async fn run_status(&self, args: Status, context: &Context) -> Result<CallToolResult> {
        let cancelled = &context.ct;
        let run_id: RunId = args.run_id.parse()?;
        let caller = caller_of(context);
        let access = self.runs().access(&caller);
        // Not waited for where it is not to be seen.
        access.may_read(&run_id).await?;
        if let Some(wait) = wait_of(args.wait.as_deref())? {
            let until = self.app().after(wait);
            let rests = async {
                if let Some(mut run) = self.runs().active(&run_id) {
                    let _ = run.outcome.wait_for(Option::is_some).await;
                }
                // What is not known at all is told below.
                if let Ok(report) = access.report(&run_id).await
                    && report["status"] == RunStatus::Sleeping.as_str()
                {
                    self.runs().report_at_rest(&run_id, until).await;
                }
            };
            // Only looks: neither the end of the wait nor that of the request ends the run.
            tokio::select! {
                () = rests => {}
                () = tokio::time::sleep(wait) => {}
                () = cancelled.cancelled() => {}
            }
        }
        Ok(done(access.report(&run_id).await?))
    }

    pub(super) async fn cancel_run(&self, args: Cancel, context: &Context) -> Result<CallToolResult> {
        let run_id: RunId = args.run_id.parse()?;
        let caller = caller_of(context);
        let access = self.runs().access(&caller);
        let run = self.runs().active(&run_id);
        access.cancel(&run_id).await?;
        if let Some(run) = run {
            // How it ended is told by `run_status` too; here it only has to have ended.
            until_ended(&run_id, run, None, &CancellationToken::new()).await?;
        }
        Ok(done(access.report_of_acted_on(&run_id).await?))
    }

    pub(super) async fn list_approvals(
        &self,
        args: ListApprovals,
        context: &Context,
    ) -> Result<CallToolResult> {
        let caller = caller_of(context);
        let run_id: Option<RunId> = args.run_id.as_deref().map(str::parse).transpose()?;
        let approvals = self.runs().access(&caller).pending_approvals(run_id.as_ref()).await?;
        Ok(done(json!({ "approvals": approvals })))
    }

    pub(super) async fn list_runs(&self, args: ListRuns, context: &Context) -> Result<CallToolResult> {
        let caller = caller_of(context);
        let filter = RunFilter {
            limit: Some(bounded(args.limit, RUNS_DEFAULT, RUNS_MAX)?),
            status: args.status.as_deref().map(str::parse).transpose()?,
            before: args.before.as_deref().map(str::parse).transpose()?,
            tenant: None,
        };
        Ok(done(self.runs().access(&caller).list(filter).await?))
    }

    pub(super) fn search_tools(&self, args: &SearchTools) -> Result<CallToolResult> {
        let limit = bounded(args.limit, TOOLS_DEFAULT, TOOLS_MAX)? as usize;
        let catalog = self.app().usable_tools();
        let mut tools: Vec<Json> =
            match args.query.as_deref().map(str::trim).filter(|query| !query.is_empty()) {
                None => catalog.iter().map(|spec| described(spec, None)).collect(),
                Some(words) => search(catalog, words)
                    .iter()
                    .map(|found| described(&found.spec, Some(found.score)))
                    .collect(),
            };
        let left_out = tools.len().saturating_sub(limit);
        tools.truncate(limit);
        let mut found = json!({ "tools": tools, "left_out": left_out });
        if let (true, Some(members)) = (args.library, found.as_object_mut()) {
            members.insert("library".into(), LIBRARY_STUBS.into());
        }
        Ok(done(found))
    }

    pub(super) async fn audit(&self, args: Audit, context: &Context) -> Result<CallToolResult> {
        let caller = caller_of(context);
        let Audit { run, tool, event, outcome, since, until, after, limit } = args;
        let wishes = AuditWishes { run, tool, event, outcome, since, until, after, limit };
        Ok(done(self.runs().access(&caller).audit(wishes).await?))
    }
}

fn described(spec: &ToolSpec, score: Option<f64>) -> Json {
    let mut tool = json!({
        "name": spec.name,
        "effect": spec.effect,
        "description": spec.description,
        "stub": spec.stub(),
    });
    if let (Some(score), Some(members)) = (score, tool.as_object_mut()) {
        members.insert("score".into(), score.into());
    }
    tool
}
