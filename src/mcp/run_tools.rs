//! Tools that start runs.

use std::path::{Component, Path};
use std::time::Duration;

use rmcp::model::{CallToolResponse, CallToolResult};
use serde_json::{Value as Json, json};
use tokio::io::AsyncReadExt as _;
use tokio_util::sync::CancellationToken;

use luaplan_app::{PlanningOptions, PromptRef, RunSpec, Work, lowered};
use luaplan_base::{Error, ErrorCode, Limits, Result, RunId, Value, parse_duration};

use super::answer::done;
use super::arguments::{LimitValues, Plan, Prompt, RunLua, RunPlan, Task};
use super::caller::{Context, caller_of};
use super::progress::ProgressReporter;
use super::server::McpServer;

/// The name of a plan without one.
const UNNAMED: &str = "plan";

/// The common arguments of the tools that start a run, as received.
struct Given {
    context: Option<Json>,
    context_name: Option<String>,
    limits: Option<LimitValues>,
    wait: Option<String>,
}

/// How a task is planned; of a plan nothing is.
#[derive(Default)]
struct Planned {
    options: PlanningOptions,
    /// Whether a person confirms the plan.
    approve: bool,
    /// The run whose plan is changed.
    follow: Option<RunId>,
}

impl McpServer {
    pub(super) async fn run_lua(&self, args: RunLua, context: &Context) -> Result<CallToolResponse> {
        let RunLua { program, context: given, context_name, limits, wait } = args;
        let work = Work::Plan { name: UNNAMED.to_owned(), source: program };
        let given = Given { context: given, context_name, limits, wait };
        self.start(work, given, Planned::default(), context).await
    }

    pub(super) async fn run_plan(&self, args: RunPlan, context: &Context) -> Result<CallToolResponse> {
        let RunPlan { plan, run_id, file, context: given, context_name, limits, wait } = args;
        let (name, source) = match (plan, run_id, file) {
            (Some(source), None, None) => (UNNAMED.to_owned(), source),
            (None, Some(run_id), None) => (
                UNNAMED.to_owned(),
                self.runs().access(&caller_of(context)).plan_source(&run_id.parse()?).await?,
            ),
            (None, None, Some(file)) => self.read_plan(&file).await?,
            _ => {
                let message = "say which plan to run: exactly one of `plan`, `run_id` and `file`";
                return Err(Error::new(ErrorCode::BadRequest, message));
            }
        };
        let given = Given { context: given, context_name, limits, wait };
        self.start(Work::Plan { name, source }, given, Planned::default(), context).await
    }

    pub(super) async fn task(&self, args: Task, context: &Context) -> Result<CallToolResponse> {
        let Task {
            task,
            context: given,
            context_name,
            limits,
            candidates,
            mcp_prompts,
            approve,
            follow,
            wait,
        } = args;
        let follow = follow.as_deref().map(str::parse).transpose()?;
        let planned = Planned { options: planning(candidates, mcp_prompts), approve, follow };
        let given = Given { context: given, context_name, limits, wait };
        self.start(Work::Task(task), given, planned, context).await
    }

    pub(super) async fn plan(&self, args: Plan, context: &Context) -> Result<CallToolResult> {
        let Plan { task, context: given, candidates, mcp_prompts } = args;
        let progress = ProgressReporter::asked_for(context);
        let listeners = progress.iter().map(ProgressReporter::listener).collect();
        let spec = RunSpec::task(task, self.app().config().limits.clone())
            .with_context(value(given)?, None)
            .with_planning(planning(candidates, mcp_prompts))
            .with_listeners(listeners, context.ct.clone());
        let run_id = spec.run_id.clone();
        let proposal = self.runs().access(&caller_of(context)).propose(spec).await;
        if let Some(progress) = progress {
            progress.finish().await;
        }
        let proposal = proposal?;
        Ok(done(json!({
            "run_id": run_id,
            "plan": proposal.plan.source(),
            "plan_hash": proposal.plan.hash(),
            "rounds": proposal.rounds,
            "explanation": proposal.explanation,
            "candidates": proposal.verdicts,
        })))
    }

    /// Starts a run, which is checked and on record before the client gets its id.
    async fn start(
        &self,
        work: Work,
        given: Given,
        planned: Planned,
        context: &Context,
    ) -> Result<CallToolResponse> {
        let wait = wait_of(given.wait.as_deref())?;
        let progress = ProgressReporter::asked_for(context);
        let listeners = progress.iter().map(ProgressReporter::listener).collect();
        let spec = RunSpec::new(work, self.limits(given.limits.as_ref())?)
            .with_context(value(given.context)?, given.context_name)
            .with_planning(planned.options)
            .with_approval(planned.approve)
            .with_listeners(listeners, CancellationToken::new());
        let run_id = spec.run_id.clone();
        let caller = caller_of(context);
        let access = self.runs().access(&caller);
        let spec = match &planned.follow {
            Some(earlier) => access.following(earlier, spec).await?,
            None => spec,
        };
        match access.start(spec).await? {
            Some(run) => self.follow(&run_id, (run, true), wait, progress, context).await,
            None => self.follow_elsewhere(&run_id, wait, context).await,
        }
    }

    pub(super) fn limits(&self, wanted: Option<&LimitValues>) -> Result<Limits> {
        let wanted = wanted.into_iter().flatten().map(|(name, value)| (name.clone(), value.to_json()));
        lowered(&self.app().config().limits, &wanted.collect())
    }

    /// A plan of the working folder, and its name. Files outside the folder are refused.
    async fn read_plan(&self, file: &str) -> Result<(String, String)> {
        let refused = |what: &str| Error::new(ErrorCode::BadRequest, format!("`file` {what}"));
        let folder = self.plan_folder().ok_or_else(|| refused("cannot be given over HTTP"))?;
        let path = Path::new(file);
        if path.extension().is_none_or(|extension| extension != "lua") {
            return Err(refused("must name a `.lua` file"));
        }
        if !path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir)) {
            return Err(refused("must be a path inside the server's working folder"));
        }
        let unreadable = |error: std::io::Error| {
            Error::new(ErrorCode::FileUnreadable, format!("cannot read {file}: {error}"))
        };
        // A link may point outside the folder.
        let real = tokio::fs::canonicalize(folder.join(path)).await.map_err(unreadable)?;
        let folder = tokio::fs::canonicalize(folder).await.map_err(unreadable)?;
        if !real.starts_with(&folder) {
            return Err(refused("must be a path inside the server's working folder"));
        }
        // A pipe could block, and a device may have no end.
        if !tokio::fs::metadata(&real).await.map_err(unreadable)?.is_file() {
            return Err(refused("must name a plain file"));
        }
        let limit_bytes = self.app().config().limits.source_bytes;
        let mut source = String::new();
        let opened = tokio::fs::File::open(&real).await.map_err(unreadable)?;
        opened.take(limit_bytes + 1).read_to_string(&mut source).await.map_err(unreadable)?;
        if source.len() as u64 > limit_bytes {
            return Err(luaplan_base::LimitName::Source.exceeded(limit_bytes, source.len() as u64));
        }
        Ok((file.to_owned(), source))
    }
}

fn planning(candidates: Option<u32>, prompts: Vec<Prompt>) -> PlanningOptions {
    let prompts = prompts.into_iter().map(|Prompt { name, arguments }| PromptRef { name, arguments });
    PlanningOptions { candidates, prompts: prompts.collect(), ..PlanningOptions::default() }
}

pub(super) fn value(json: Option<Json>) -> Result<Option<Value>> {
    json.map(Value::from_json).transpose()
}

pub(super) fn wait_of(text: Option<&str>) -> Result<Option<Duration>> {
    text.map(parse_duration).transpose().map_err(|error| {
        Error::new(ErrorCode::BadRequest, format!("`wait`: {}", error.message()))
            .with_help("write a duration with its unit: `20s`")
    })
}
