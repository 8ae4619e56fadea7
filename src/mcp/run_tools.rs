//! Tools that begin runs.

use std::path::{Component, Path};
use std::time::Duration;

use axum::http::request::Parts;
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, CallToolResult};
use rmcp::service::RequestContext;
use serde_json::{Value as Json, json};
use tokio::io::AsyncReadExt as _;
use tokio_util::sync::CancellationToken;

use luaplan_app::{Caller, PlanOf, PlanningOptions, PromptRef, RunRequest, Work, lowered};
use luaplan_base::{Error, ErrorCode, Limits, Result, RunId, Value, parse_duration};
use luaplan_bus::Circumstances;
use luaplan_journal::check_context_name;
use luaplan_plan::CheckReport;

use super::answer::done;
use super::arguments::{LimitValues, Plan, Prompt, RunLua, RunPlan, Task};
use super::progress::Progress;
use super::server::McpServer;

pub(super) type Context = RequestContext<RoleServer>;

/// The name of a plan that has none.
const UNNAMED: &str = "plan";

/// What is to be run, and how long the client waits.
struct Wanted {
    work: Work,
    context: Option<Value>,
    context_name: Option<String>,
    limits: Limits,
    planning: PlanningOptions,
    wait: Option<Duration>,
}

/// What the tools that begin a run have in common, as it was written.
struct Given {
    context: Option<Json>,
    context_name: Option<String>,
    limits: Option<LimitValues>,
    wait: Option<String>,
}

/// Whether the call came over HTTP.
pub(super) fn is_over_http(context: &Context) -> bool {
    context.extensions.get::<Parts>().is_some()
}

/// Who calls: over HTTP the request's API key, on stdio the person whose process this is.
pub(super) fn caller_of(context: &Context) -> Caller {
    match context.extensions.get::<Parts>() {
        Some(parts) => parts.extensions.get::<Caller>().cloned().unwrap_or_else(Caller::unknown),
        None => Caller::at_terminal(),
    }
}

impl McpServer {
    pub(super) async fn run_lua(&self, args: RunLua, context: &Context) -> Result<CallToolResponse> {
        let RunLua { program, context: given, context_name, limits, wait } = args;
        let work = Work::Plan { name: UNNAMED.to_owned(), source: program };
        let given = Given { context: given, context_name, limits, wait };
        let wanted = self.wanted(work, PlanningOptions::default(), given)?;
        self.run_checked(wanted, context).await
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
        let wanted = self.wanted(Work::Plan { name, source }, PlanningOptions::default(), given)?;
        self.run_checked(wanted, context).await
    }

    pub(super) async fn task(&self, args: Task, context: &Context) -> Result<CallToolResponse> {
        let Task { task, context: given, context_name, limits, candidates, mcp_prompts, wait } = args;
        let planning = self.planning(&task, candidates, mcp_prompts)?;
        let given = Given { context: given, context_name, limits, wait };
        let wanted = self.wanted(Work::Task(task), planning, given)?;
        self.run(wanted, None, context).await
    }

    pub(super) async fn plan(&self, args: Plan, context: &Context) -> Result<CallToolResult> {
        let Plan { task, context: given, candidates, mcp_prompts } = args;
        let planning = self.planning(&task, candidates, mcp_prompts)?;
        let progress = Progress::asked_for(context);
        let request = RunRequest {
            run_id: RunId::generate(),
            work: Work::Task(task),
            context: value(given)?,
            context_name: None,
            planning,
            limits: self.app().config().limits.clone(),
            circumstances: Circumstances::default(),
            handler: None,
            listeners: progress.iter().map(Progress::listener).collect(),
            cancel: context.ct.clone(),
            starts_over: None,
        };
        let run_id = request.run_id.clone();
        let proposal = self.runs().access(&caller_of(context)).propose(request).await;
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

    fn wanted(&self, work: Work, planning: PlanningOptions, given: Given) -> Result<Wanted> {
        Ok(Wanted {
            work,
            context: value(given.context)?,
            context_name: given.context_name,
            limits: self.limits(given.limits.as_ref())?,
            planning,
            wait: wait_of(given.wait.as_deref())?,
        })
    }

    /// A plan that does not pass the check is refused before a run of it begins.
    async fn run_checked(&self, wanted: Wanted, context: &Context) -> Result<CallToolResponse> {
        if let Work::Plan { name, source } = &wanted.work {
            let tenant = caller_of(context).tenant().to_owned();
            let (limits, context_given) = (&wanted.limits, wanted.context.as_ref());
            let plan = PlanOf { tenant: &tenant, name, source, limits, context: context_given };
            let report = self.app().accepted_for(plan).await?;
            // A named context may have a shape that the check knew nothing of.
            let is_whole = context_given.is_some() || wanted.context_name.is_none();
            let checked = is_whole.then_some(report);
            return self.run(wanted, checked, context).await;
        }
        self.run(wanted, None, context).await
    }

    /// Begins a run, which is on record before the client hears of it.
    async fn run(
        &self,
        wanted: Wanted,
        checked: Option<CheckReport>,
        context: &Context,
    ) -> Result<CallToolResponse> {
        let Wanted { work, context: given, context_name, limits, planning, wait } = wanted;
        context_name.as_deref().map_or(Ok(()), check_context_name)?;
        let run_id = RunId::generate();
        let progress = Progress::asked_for(context);
        let request = RunRequest {
            run_id: run_id.clone(),
            work,
            context: given,
            context_name,
            planning,
            limits,
            circumstances: Circumstances::default(),
            handler: None,
            listeners: progress.iter().map(Progress::listener).collect(),
            cancel: CancellationToken::new(),
            starts_over: None,
        };
        match self.runs().access(&caller_of(context)).submit(request, checked).await? {
            Some(run) => self.follow(&run_id, (run, true), wait, progress, context).await,
            None => self.follow_elsewhere(&run_id, wait, context).await,
        }
    }

    pub(super) fn limits(&self, wanted: Option<&LimitValues>) -> Result<Limits> {
        let wanted = wanted.into_iter().flatten().map(|(name, value)| (name.clone(), value.to_json()));
        lowered(&self.app().config().limits, &wanted.collect())
    }

    fn planning(&self, task: &str, candidates: Option<u32>, prompts: Vec<Prompt>) -> Result<PlanningOptions> {
        if task.trim().is_empty() {
            return Err(Error::new(ErrorCode::BadRequest, "`task` is empty"));
        }
        self.app().require_model()?;
        let prompts = prompts.into_iter().map(|Prompt { name, arguments }| PromptRef { name, arguments });
        let planning =
            PlanningOptions { candidates, prompts: prompts.collect(), ..PlanningOptions::default() };
        self.app().check_planning(&planning)?;
        Ok(planning)
    }

    /// A plan of the working folder, and its name. Nothing outside the folder is looked at.
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
        // A link may lead out of the folder.
        let real = tokio::fs::canonicalize(folder.join(path)).await.map_err(unreadable)?;
        let folder = tokio::fs::canonicalize(folder).await.map_err(unreadable)?;
        if !real.starts_with(&folder) {
            return Err(refused("must be a path inside the server's working folder"));
        }
        // A pipe would be waited for, and a device may have no end.
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

pub(super) fn value(json: Option<Json>) -> Result<Option<Value>> {
    json.map(Value::from_json).transpose()
}

pub(super) fn wait_of(text: Option<&str>) -> Result<Option<Duration>> {
    text.map(parse_duration).transpose().map_err(|error| {
        Error::new(ErrorCode::BadRequest, format!("`wait`: {}", error.message()))
            .with_help("write a duration with its unit: `20s`")
    })
}
