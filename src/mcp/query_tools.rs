//! Tools that answer from the record and the configuration.

use rmcp::model::CallToolResult;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use luaplan_app::{
    AuditQuery, PartRequest, PlanOf, bounded, fits_page, part_at, shorten_approvals, shortened,
};
use luaplan_base::{Result, RunId};
use luaplan_catalog::{ToolSpec, search};
use luaplan_journal::{RunFilter, RunStatus};
use luaplan_vm::LIBRARY_STUBS;

use super::answer::{again, done, of_run, whole_call};
use super::arguments::{
    Audit, Cancel, Check, Explain, ListApprovals, ListRuns, ReadResult, SearchTools, Status,
};
use super::caller::{Context, caller_of};
use super::run_tools::{value, wait_of};
use super::server::McpServer;
use super::wait::until_ended;

const RUNS_DEFAULT: u32 = 20;
const RUNS_MAX: u32 = 500;

/// The members of a list's answer beside its entries.
const LIST_REST_BYTES: usize = 1024;

const TOOLS_DEFAULT: u32 = 10;
const TOOLS_MAX: u32 = 100;

impl McpServer {
    pub(super) async fn check(&self, args: Check, context: &Context) -> Result<CallToolResult> {
        let caller = caller_of(context);
        if args.live {
            caller.may_check_live()?;
        }
        let tenant = caller.tenant().to_owned();
        let shape = value(args.context)?;
        let limits = &self.app().config().limits;
        let plan =
            PlanOf { tenant: &tenant, name: "plan", source: &args.plan, limits, context: shape.as_ref() };
        let plans = self.app().plans();
        let report =
            if args.live { plans.check_live_for(plan).await? } else { plans.check_for(plan).await? };
        let checked = json!({ "ok": report.plan.is_some(), "findings": report.findings });
        self.from(checked, (args.path, args.offset), context)
    }

    pub(super) async fn explain(&self, args: Explain, context: &Context) -> Result<CallToolResult> {
        let tenant = caller_of(context).tenant().to_owned();
        let shape = value(args.context)?;
        let limits = self.limits(args.limits.as_ref())?;
        let plan = PlanOf {
            tenant: &tenant,
            name: "plan",
            source: &args.plan,
            limits: &limits,
            context: shape.as_ref(),
        };
        let explanation = self.app().plans().explain_for(plan).await?;
        self.from(explanation.to_json(), (args.path, args.offset), context)
    }

    /// An answer that is computed again each time, from where the client reads on.
    pub(super) fn from(
        &self,
        answer: Json,
        (path, offset): (Option<String>, Option<usize>),
        context: &Context,
    ) -> Result<CallToolResult> {
        if path.is_none() && offset.is_none() {
            return Ok(done(answer));
        }
        let (path, offset) = (path.unwrap_or_default(), offset.unwrap_or(0));
        Ok(done(part_at(&answer, &path, offset, self.answer_form(context).bytes_max, &again)?))
    }

    /// The bytes left for a list beside the other members of its answer.
    fn list_bytes_max(&self, context: &Context) -> usize {
        self.answer_form(context).bytes_max.saturating_sub(LIST_REST_BYTES)
    }

    pub(super) async fn read_result(&self, args: ReadResult, context: &Context) -> Result<CallToolResult> {
        let run_id: RunId = args.run.parse()?;
        let part = PartRequest {
            path: args.path.unwrap_or_else(|| PartRequest::DEFAULT_PATH.to_owned()),
            offset: args.offset.unwrap_or(0),
            bytes_max: self.answer_form(context).bytes_max,
        };
        let read_on = |path: &str, offset| of_run(run_id.as_str(), path, offset);
        let caller = caller_of(context);
        Ok(done(self.runs().access(&caller).part(&run_id, &part, &read_on).await?))
    }

    pub(super) async fn run_status(&self, args: Status, context: &Context) -> Result<CallToolResult> {
        let cancelled = &context.ct;
        let run_id: RunId = args.run_id.parse()?;
        let caller = caller_of(context);
        let access = self.runs().access(&caller);
        // Checked first, so that a caller does not wait for a run it may not see.
        access.may_read(&run_id).await?;
        if let Some(wait) = wait_of(args.wait.as_deref())? {
            let until = self.app().history().after(wait);
            let ended_or_suspended = async {
                if let Some(mut run) = self.runs().registry().active(&run_id) {
                    let _ = run.outcome.wait_for(Option::is_some).await;
                }
                // An unknown run is reported below.
                if let Ok(report) = access.report(&run_id).await
                    && report["status"] == RunStatus::Sleeping.as_str()
                {
                    self.runs().report_at_rest(&run_id, until).await;
                }
            };
            // A read only: neither the end of the wait nor that of the request ends the run.
            tokio::select! {
                () = ended_or_suspended => {}
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
        let run = self.runs().registry().active(&run_id);
        access.cancel(&run_id).await?;
        if let Some(run) = run {
            // `run_status` reports how it ended; here it only has to have ended.
            until_ended(&run_id, (run, true), None, &CancellationToken::new()).await?;
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
        let listed = shorten_approvals(serde_json::to_value(approvals).unwrap_or_default(), &whole_call);
        let mut approvals = listed.as_array().cloned().unwrap_or_default();
        let found = approvals.len();
        approvals.truncate(fits_page(&approvals, self.list_bytes_max(context)));
        Ok(done(json!({ "approvals": approvals, "left_out": found - approvals.len() })))
    }

    pub(super) async fn list_runs(&self, args: ListRuns, context: &Context) -> Result<CallToolResult> {
        let caller = caller_of(context);
        let filter = RunFilter {
            limit: Some(bounded(args.limit, RUNS_DEFAULT, RUNS_MAX)?),
            status: args.status.as_deref().map(str::parse).transpose()?,
            before: args.before.as_deref().map(str::parse).transpose()?,
            tenant: None,
        };
        let mut list = self.runs().access(&caller).list(filter).await?;
        if let Some(runs) = list["runs"].as_array_mut() {
            let fits = fits_page(runs, self.list_bytes_max(context));
            if fits < runs.len() {
                runs.truncate(fits);
                list["next"] = list["runs"][fits - 1]["run_id"].clone();
            }
        }
        Ok(done(list))
    }

    pub(super) fn search_tools(&self, args: &SearchTools, context: &Context) -> Result<CallToolResult> {
        let limit = bounded(args.limit, TOOLS_DEFAULT, TOOLS_MAX)? as usize;
        let catalog = self.app().tools().usable();
        let mut tools: Vec<Json> =
            match args.query.as_deref().map(str::trim).filter(|query| !query.is_empty()) {
                None => catalog.iter().map(|spec| described(spec, None)).collect(),
                Some(words) => search(catalog, words)
                    .iter()
                    .map(|found| described(&found.spec, Some(found.score)))
                    .collect(),
            };
        let (found, library) = (tools.len(), if args.library { LIBRARY_STUBS } else { "" });
        tools.truncate(limit);
        tools.truncate(fits_page(&tools, self.list_bytes_max(context).saturating_sub(library.len())));
        let left_out = found - tools.len();
        let mut found = json!({ "tools": tools, "left_out": left_out });
        if let (true, Some(members)) = (args.library, found.as_object_mut()) {
            members.insert("library".into(), LIBRARY_STUBS.into());
        }
        Ok(done(found))
    }

    pub(super) async fn audit(&self, args: Audit, context: &Context) -> Result<CallToolResult> {
        let caller = caller_of(context);
        let Audit { run, tool, event, outcome, since, until, after, limit } = args;
        let page_bytes_max = self.list_bytes_max(context);
        let query = AuditQuery { run, tool, event, outcome, since, until, after, limit, page_bytes_max };
        let mut page = self.runs().access(&caller).audit(query).await?;
        // A page has at least one record, which may be longer than the bound of a page.
        for record in page["records"].as_array_mut().into_iter().flatten() {
            let run_id = record["run_id"].as_str().unwrap_or_default().to_owned();
            let place = format!("/records/{}", record["sequence"]);
            let read_on = |path: &str, offset| of_run(&run_id, &format!("{place}{path}"), offset);
            *record = shortened(record.take(), page_bytes_max, &read_on);
        }
        Ok(done(page))
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
