//! The arguments of each tool. Assistants read the comments here.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

/// Single limits of a run, by name.
pub(super) type LimitValues = BTreeMap<String, LimitValue>;

/// One limit: a number, or text with its unit.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum LimitValue {
    /// A number of whatever the limit counts.
    Number(u64),
    /// A number with its unit, for example `16MiB`.
    Text(String),
}

impl LimitValue {
    pub(super) fn to_json(&self) -> Json {
        match self {
            Self::Number(number) => Json::from(*number),
            Self::Text(text) => Json::from(text.as_str()),
        }
    }
}

/// `run_lua`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunLua {
    /// Lua 5.4 source that defines `function run(context) … end`.
    pub(super) program: String,
    /// The JSON value handed to `run` as `context`; an empty object when absent.
    #[serde(default)]
    pub(super) context: Option<Json>,
    /// A context kept between runs under this name: the start where `context` is absent, and saved at
    /// the end.
    #[serde(default)]
    pub(super) context_name: Option<String>,
    /// Single limits below the server's own, for example {"wall": "5s", "memory": "16MiB", "tool_calls": 10}.
    #[serde(default)]
    pub(super) limits: Option<LimitValues>,
    /// Answer after this time at the latest, for example `20s`, with the run's id; the run goes on and
    /// `run_status` tells how. Without it the answer comes when the run has ended, sleeps or waits for a person.
    #[serde(default)]
    pub(super) wait: Option<String>,
}

/// `run`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RunPlan {
    /// The plan's Lua source. Give this, `run_id` or `file`.
    #[serde(default)]
    pub(super) plan: Option<String>,
    /// Run the plan of this earlier run again.
    #[serde(default)]
    pub(super) run_id: Option<String>,
    /// A saved plan: the path of a `.lua` file in the server's working folder.
    #[serde(default)]
    pub(super) file: Option<String>,
    /// The JSON value handed to `run` as `context`; an empty object when absent.
    #[serde(default)]
    pub(super) context: Option<Json>,
    /// A context kept between runs under this name: the start where `context` is absent, and saved at
    /// the end.
    #[serde(default)]
    pub(super) context_name: Option<String>,
    /// Single limits below the server's own, for example {"wall": "5s", "memory": "16MiB", "tool_calls": 10}.
    #[serde(default)]
    pub(super) limits: Option<LimitValues>,
    /// Answer after this time at the latest, for example `20s`, with the run's id; the run goes on and
    /// `run_status` tells how. Without it the answer comes when the run has ended, sleeps or waits for a person.
    #[serde(default)]
    pub(super) wait: Option<String>,
}

/// `task`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Task {
    /// The task in plain words.
    pub(super) task: String,
    /// The JSON value handed to the plan as `context`; an empty object when absent.
    #[serde(default)]
    pub(super) context: Option<Json>,
    /// A context kept between runs under this name: the start where `context` is absent, and saved at
    /// the end.
    #[serde(default)]
    pub(super) context_name: Option<String>,
    /// Single limits below the server's own, for example {"wall": "5s", "memory": "16MiB", "tool_calls": 10}.
    #[serde(default)]
    pub(super) limits: Option<LimitValues>,
    /// How many plans to ask for at the same time, 1 to 8; the best is taken.
    #[serde(default)]
    pub(super) candidates: Option<u32>,
    /// Prompts of MCP servers luaplan knows, whose texts its model is shown as data.
    #[serde(default)]
    pub(super) mcp_prompts: Vec<Prompt>,
    /// `true`: a person decides about the plan before anything of it runs; the run waits until then.
    #[serde(default)]
    pub(super) approve: bool,
    /// The id of a run whose plan the task changes. The context is that run's where none is given.
    #[serde(default)]
    pub(super) follow: Option<String>,
    /// Answer after this time at the latest, for example `20s`, with the run's id; the run goes on and
    /// `run_status` tells how. Without it the answer comes when the run has ended, sleeps or waits for a person.
    #[serde(default)]
    pub(super) wait: Option<String>,
}

/// `plan`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Plan {
    /// The task in plain words.
    pub(super) task: String,
    /// The context the plan is to run with. The model sees its keys and types, not its data.
    #[serde(default)]
    pub(super) context: Option<Json>,
    /// How many plans to ask for at the same time, 1 to 8; the best is taken.
    #[serde(default)]
    pub(super) candidates: Option<u32>,
    /// Prompts of MCP servers luaplan knows, whose texts its model is shown as data.
    #[serde(default)]
    pub(super) mcp_prompts: Vec<Prompt>,
}

/// A prompt of an MCP server.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Prompt {
    /// `SERVER.prompt`.
    pub(super) name: String,
    /// What it is given, by name.
    #[serde(default)]
    pub(super) arguments: BTreeMap<String, String>,
}

/// `check`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Check {
    /// The plan's Lua source.
    pub(super) plan: String,
    /// A context to check its use against, by its shape.
    #[serde(default)]
    pub(super) context: Option<Json>,
    /// Have the databases look at the plan's statements too; nothing is executed.
    #[serde(default)]
    pub(super) live: bool,
    /// Read on in an answer that was shortened: the `path` of its `read_on`.
    #[serde(default)]
    pub(super) path: Option<String>,
    /// Read on in an answer that was shortened: the `offset` of its `read_on`.
    #[serde(default)]
    pub(super) offset: Option<usize>,
}

/// `explain`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Explain {
    /// The plan's Lua source.
    pub(super) plan: String,
    /// A context to show values from.
    #[serde(default)]
    pub(super) context: Option<Json>,
    /// Single limits below the server's own, for example {"tool_calls": 10}.
    #[serde(default)]
    pub(super) limits: Option<LimitValues>,
    /// Read on in an answer that was shortened: the `path` of its `read_on`.
    #[serde(default)]
    pub(super) path: Option<String>,
    /// Read on in an answer that was shortened: the `offset` of its `read_on`.
    #[serde(default)]
    pub(super) offset: Option<usize>,
}

/// `run_status`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Status {
    /// The run's id.
    pub(super) run_id: String,
    /// Wait so long for its end, for example `20s`, where this server runs it.
    #[serde(default)]
    pub(super) wait: Option<String>,
}

/// `read_result`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ReadResult {
    /// The run's id.
    #[serde(alias = "run_id")]
    pub(super) run: String,
    /// JSON pointer to what is read, as `read_on` names it, for example `/result/rows`; `/result` when absent.
    #[serde(default)]
    pub(super) path: Option<String>,
    /// From which item, member or byte of a text on: the `next` of the part before; 0 when absent.
    #[serde(default)]
    pub(super) offset: Option<usize>,
}

/// `cancel_run`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Cancel {
    /// The run's id.
    pub(super) run_id: String,
}

/// `resume_run`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ResumeRun {
    /// The run's id.
    pub(super) run_id: String,
    /// What came of its calls in doubt (`call_in_doubt` names them), by call id. Look at the world first: only say
    /// what you have seen.
    #[serde(default)]
    pub(super) resolve: BTreeMap<String, Resolution>,
    /// Answer after this time at the latest, for example `20s`; the run goes on and `run_status` tells how.
    #[serde(default)]
    pub(super) wait: Option<String>,
}

/// What came of one call in doubt: exactly one of these.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct Resolution {
    /// `true`: it did not take effect, make it again.
    #[serde(default)]
    pub(super) retry: Option<bool>,
    /// It took effect; this is taken as its result.
    #[serde(default, deserialize_with = "luaplan_app::present")]
    pub(super) done: Option<Json>,
    /// It did not take effect and is not to be made; the program sees a failure with this reason.
    #[serde(default)]
    pub(super) failed: Option<String>,
}

/// `list_approvals`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListApprovals {
    /// Only those of this run.
    #[serde(default)]
    pub(super) run_id: Option<String>,
}

/// `deny_approval`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DenyApproval {
    /// The request's `approval_id`.
    pub(super) approval_id: String,
    /// Why; the program is told it.
    pub(super) reason: String,
    /// Answer after this time at the latest, for example `20s`; the run goes on and `run_status` tells how.
    #[serde(default)]
    pub(super) wait: Option<String>,
}

/// `answer_question`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerQuestion {
    /// The run that asks.
    pub(super) run_id: String,
    /// The call that asks; the only one when absent.
    #[serde(default)]
    pub(super) call_id: Option<String>,
    /// The person's own answer; one of the question's `choices` where it has any.
    pub(super) answer: String,
    /// Answer after this time at the latest, for example `20s`; the run goes on and `run_status` tells how.
    #[serde(default)]
    pub(super) wait: Option<String>,
}

/// `list_runs`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ListRuns {
    /// At most so many; 1 to 500, 20 when absent.
    #[serde(default)]
    pub(super) limit: Option<u32>,
    /// `running`, `sleeping`, `paused`, `succeeded`, `failed` or `cancelled`.
    #[serde(default)]
    pub(super) status: Option<String>,
    /// Only runs older than this one: the `next` of the page before.
    #[serde(default)]
    pub(super) before: Option<String>,
}

/// `search_tools`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SearchTools {
    /// What the tool should do, in a few words, or its name. All tools when absent.
    #[serde(default)]
    pub(super) query: Option<String>,
    /// At most so many; 1 to 100, 10 when absent.
    #[serde(default)]
    pub(super) limit: Option<u32>,
    /// Give the declarations of the plan library (json, date, text, csv, stats, list) too.
    #[serde(default)]
    pub(super) library: bool,
}

/// `describe_databases`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DescribeDatabases {
    /// The tool that reads them; `query_db` when absent.
    #[serde(default)]
    pub(super) tool: Option<String>,
    /// Where to read on in a long answer: the `path` of its `read_on`.
    #[serde(default)]
    pub(super) path: Option<String>,
    /// Where to read on in a long answer: the `offset` of its `read_on`.
    #[serde(default)]
    pub(super) offset: Option<usize>,
}

/// `audit`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Audit {
    /// Only this run.
    #[serde(default)]
    pub(super) run: Option<String>,
    /// Only calls of this tool.
    #[serde(default)]
    pub(super) tool: Option<String>,
    /// Only events of this name, for example `tool_call_started`.
    #[serde(default)]
    pub(super) event: Option<String>,
    /// `ok` or `failed`.
    #[serde(default)]
    pub(super) outcome: Option<String>,
    /// Not before this instant (RFC 3339).
    #[serde(default)]
    pub(super) since: Option<String>,
    /// Before this instant (RFC 3339).
    #[serde(default)]
    pub(super) until: Option<String>,
    /// Only records after this sequence number: the `next` of the page before.
    #[serde(default)]
    pub(super) after: Option<u64>,
    /// At most so many; 1 to 1000, 100 when absent.
    #[serde(default)]
    pub(super) limit: Option<u32>,
}
