//! The forms of request bodies and query strings.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;
use utoipa::{IntoParams, ToSchema};

use luaplan_app::{PlanningOptions, PromptRef, RunSpec, check_plan_name, lowered};
use luaplan_base::{Limits, Result, Value};
use luaplan_bus::{Circumstances, Mode};

/// Body of `POST /v1/tasks`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TaskBody {
    /// The task in plain words.
    pub(super) task: String,
    /// The context handed to the plan; any JSON document.
    #[serde(default)]
    pub(super) context: Option<Json>,
    /// A context kept between runs: the start where `context` is absent, and saved at the end.
    #[serde(default)]
    pub(super) context_name: Option<String>,
    /// Single limits below the server's own, as numbers or text (`"2s"`, `"16MiB"`).
    #[serde(default)]
    pub(super) limits: BTreeMap<String, Json>,
    /// `structured` (a person is asked where the policy says so; the default) or `autonomous`.
    #[serde(default)]
    pub(super) mode: Option<String>,
    /// By how many plans an autonomous run works on the task at most, 1 to 1000; `autonomous.max_iterations` when absent.
    #[serde(default)]
    pub(super) max_iterations: Option<u32>,
    /// How many plans to ask for at the same time, 1 to 8; the best is taken. `planner.candidates` when
    /// absent.
    #[serde(default)]
    pub(super) candidates: Option<u32>,
    /// Prompts of MCP servers whose texts are put before the planner, as data.
    #[serde(default)]
    pub(super) mcp_prompts: Vec<PromptBody>,
    /// `true`: the run pauses once it has a plan, before anything of it runs, until a person has decided about the plan
    /// (`GET /v1/approvals`).
    #[serde(default)]
    pub(super) approve: bool,
    /// The id of a run whose plan the task changes. The context is that run's where neither `context` nor `context_name` is
    /// given.
    #[serde(default)]
    pub(super) follow: Option<String>,
}

impl TaskBody {
    /// The requested run, under limits no higher than `limits`.
    ///
    /// # Errors
    /// `bad_request` for an invalid part.
    pub(super) fn into_spec(self, limits: &Limits) -> Result<RunSpec> {
        let prompts = self.mcp_prompts.into_iter();
        let prompts = prompts.map(|PromptBody { name, arguments }| PromptRef { name, arguments }).collect();
        let Self { candidates, max_iterations, .. } = self;
        let planning = PlanningOptions { candidates, max_iterations, prompts, ..PlanningOptions::default() };
        Ok(RunSpec::task(self.task, lowered(limits, &self.limits)?)
            .with_context(self.context.map(Value::from_json).transpose()?, self.context_name)
            .with_circumstances(in_mode(self.mode.as_deref())?)
            .with_planning(planning)
            .with_approval(self.approve))
    }
}

/// Body of `POST /v1/runs/{id}/mode`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ModeBody {
    /// `structured` or `autonomous`.
    pub(super) mode: String,
    /// By how many plans it works on its task from now on at most, 1 to 1000; `autonomous.max_iterations` when absent.
    #[serde(default)]
    pub(super) max_iterations: Option<u32>,
}

fn in_mode(mode: Option<&str>) -> Result<Circumstances> {
    let mode = mode.map_or(Ok(Mode::default()), str::parse)?;
    Ok(Circumstances { mode, ..Circumstances::default() })
}

/// A prompt of an MCP server.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PromptBody {
    /// `SERVER.prompt`, as `luaplan mcp accept` showed it.
    pub(super) name: String,
    /// What it is given, by name.
    #[serde(default)]
    pub(super) arguments: BTreeMap<String, String>,
}

/// Body of `POST /v1/runs`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunBody {
    /// The plan's Lua source.
    pub(super) plan: String,
    /// A name for messages and lists.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// The context handed to the plan; any JSON document.
    #[serde(default)]
    pub(super) context: Option<Json>,
    /// A context kept between runs: the start where `context` is absent, and saved at the end.
    #[serde(default)]
    pub(super) context_name: Option<String>,
    /// Single limits below the server's own, as numbers or text (`"2s"`, `"16MiB"`).
    #[serde(default)]
    pub(super) limits: BTreeMap<String, Json>,
    /// `structured` (a person is asked where the policy says so; the default) or `autonomous`.
    #[serde(default)]
    pub(super) mode: Option<String>,
}

impl RunBody {
    /// The requested run, under limits no higher than `limits`.
    ///
    /// # Errors
    /// `bad_request` for an invalid part.
    pub(super) fn into_spec(self, limits: &Limits) -> Result<RunSpec> {
        let name = self.name.unwrap_or_else(|| "plan".to_owned());
        check_plan_name(&name)?;
        Ok(RunSpec::plan(name, self.plan, lowered(limits, &self.limits)?)
            .with_context(self.context.map(Value::from_json).transpose()?, self.context_name)
            .with_circumstances(in_mode(self.mode.as_deref())?))
    }
}

/// Query of `GET /v1/approvals`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ApprovalsQuery {
    /// Only those of this run.
    pub(super) run: Option<String>,
}

/// Query of `GET /v1/questions`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct QuestionsQuery {
    /// Only those of this run, and of the agents it waits for.
    pub(super) run: Option<String>,
}

/// Body of `POST /v1/questions/{id}`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerBody {
    /// The answer; one of the question's `choices` where it has any.
    pub(super) answer: String,
    /// Whether the run goes on once none of its questions is open any more; true when absent.
    #[serde(default)]
    pub(super) resume: Option<bool>,
}

/// Query of `GET /v1/grants`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct GrantsQuery {
    /// `true`: those too that expired or were revoked.
    pub(super) all: Option<bool>,
}

/// Body of `POST /v1/approvals/{id}`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DecisionBody {
    /// `once`, `for`, `edit` or `deny`.
    pub(super) decision: String,
    /// With `for`: how long calls of the tool that the same rules ask about are allowed (`1h`).
    #[serde(default, rename = "for")]
    pub(super) time: Option<String>,
    /// With `edit`: all arguments to use instead, an object by parameter name; of a plan `{"plan": source}`. One of
    /// `arguments`, `set` and `merge`.
    #[serde(default)]
    pub(super) arguments: Option<Json>,
    /// With `edit`: arguments to change, by parameter name; the others stay. Null takes one out.
    #[serde(default)]
    pub(super) set: Option<serde_json::Map<String, Json>>,
    /// With `edit`: a merge patch (RFC 7396) on the arguments.
    #[serde(default)]
    pub(super) merge: Option<Json>,
    /// With `deny`: why; the plan is told. Of a plan: what should be different; the model is told and plans anew.
    #[serde(default)]
    pub(super) reason: Option<String>,
    /// Whether the run goes on once none of its calls waits any more; true when absent.
    #[serde(default)]
    pub(super) resume: Option<bool>,
}

/// Body of `POST /v1/runs/{id}/resume`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ResumeBody {
    /// What is known about calls in doubt, by call id.
    #[serde(default)]
    pub(super) resolve: BTreeMap<String, Resolution>,
}

/// Body of `POST /v1/runs/{id}/reset`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ResetBody {
    /// `true`: make calls again that wrote, sent or spent something.
    #[serde(default)]
    pub(super) repeat_effects: bool,
}

/// What is known about one call in doubt: exactly one of these.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Resolution {
    /// `true`: make it again.
    #[serde(default)]
    pub(super) retry: Option<bool>,
    /// It took effect; this is taken as its result.
    #[serde(default, deserialize_with = "luaplan_app::present")]
    pub(super) done: Option<Json>,
    /// It did not take effect; the plan sees a failure with this reason.
    #[serde(default)]
    pub(super) failed: Option<String>,
}

/// Body of `POST /v1/runs/{id}/replay`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReplayBody {
    /// Another plan to run against what is on record; the recorded one when absent.
    #[serde(default)]
    pub(super) plan: Option<String>,
}

/// Body of `POST /v1/plans/explain`.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainBody {
    /// The plan's Lua source.
    pub(super) plan: String,
    /// A name for messages.
    #[serde(default)]
    pub(super) name: Option<String>,
    /// A context to show values from; any JSON document.
    #[serde(default)]
    pub(super) context: Option<Json>,
    /// Single limits below the server's own, as numbers or text (`"2s"`, `"16MiB"`).
    #[serde(default)]
    pub(super) limits: BTreeMap<String, Json>,
    /// Whether the databases look at the plan's statements; nothing is executed.
    #[serde(default)]
    pub(super) live: bool,
}

/// Query of `GET /v1/runs/{id}/graph`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct GraphQuery {
    /// `json`, `mermaid`, `dot` or `svg`; without it `Accept` decides, and else it is `json`.
    pub(super) format: Option<String>,
}

/// Query of the routes that begin a run.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitQuery {
    /// Wait so long for the result (`30s`), then answer 202 all the same.
    pub(super) wait: Option<String>,
}

/// Query of `GET /v1/runs`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct RunsQuery {
    /// At most so many; 1 to 500, 50 when absent.
    pub(super) limit: Option<u32>,
    /// `running`, `sleeping`, `paused`, `succeeded`, `failed` or `cancelled`.
    pub(super) status: Option<String>,
    /// Only runs older than this one: the `next` of the page before.
    pub(super) before: Option<String>,
}

/// Query of `GET /v1/runs/{id}/result`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct PartQuery {
    /// JSON pointer into the run; `/result` when absent.
    pub(super) path: Option<String>,
    /// From which item, member or byte of a text on: the `next` of the part before. 0 when absent.
    pub(super) offset: Option<usize>,
}

/// Query of `GET /v1/tools`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolsQuery {
    /// Only tools that share a word with this, the best first, each with its `score`.
    pub(super) query: Option<String>,
}

/// Query of `GET /v1/audit`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditParams {
    /// Only this run.
    pub(super) run: Option<String>,
    /// Only calls of this tool.
    pub(super) tool: Option<String>,
    /// Only events of this name.
    pub(super) event: Option<String>,
    /// `ok` or `failed`.
    pub(super) outcome: Option<String>,
    /// Not before this instant (RFC 3339).
    pub(super) since: Option<String>,
    /// Before this instant (RFC 3339).
    pub(super) until: Option<String>,
    /// Only records after this sequence number.
    pub(super) after: Option<u64>,
    /// At most so many; 1 to 1000, 100 when absent.
    pub(super) limit: Option<u32>,
}

/// An error (RFC 9457), with the members every edge of luaplan prints. Errors carry further
/// members by their kind, for example `findings` where the check refused a plan.
#[derive(ToSchema)]
#[schema(as = Problem)]
#[expect(dead_code, reason = "describes what `problem` writes; never built")]
pub(super) struct ProblemDetails {
    /// `urn:luaplan:error:` and the code.
    #[schema(rename = "type")]
    kind: String,
    /// What the code means.
    title: String,
    /// The HTTP status.
    status: u16,
    /// What happened; the same as `message`.
    detail: String,
    /// The stable code.
    code: String,
    /// What happened.
    message: String,
    /// What to do next.
    help: String,
    /// The limit that was set, where this is about one.
    limit: Option<Json>,
    /// The value seen, where this is about a limit.
    observed: Option<Json>,
}
