//! What requests and query strings look like.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value as Json;
use utoipa::{IntoParams, ToSchema};

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
    /// `running`, `succeeded`, `failed` or `cancelled`.
    pub(super) status: Option<String>,
    /// Only runs older than this one: the `next` of the page before.
    pub(super) before: Option<String>,
}

/// Query of `GET /v1/audit`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub(super) struct AuditQuery {
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
#[expect(dead_code, reason = "describes what `problem` writes; never built")]
pub(super) struct Problem {
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
