//! State is a fold over records: what a run has come to, from its records alone.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{EventBody, Record};
use crate::base::{CallId, ContentHash, Effect, Error, ErrorCode, RunId, Usage};

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// No end is recorded: it is going on, or its process died.
    Running,
    /// It ended well.
    Succeeded,
    /// It ended badly.
    Failed,
    /// It was cancelled.
    Cancelled,
}

impl RunStatus {
    /// The name in reports and filters.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}

impl fmt::Display for RunStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for RunStatus {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        [Self::Running, Self::Succeeded, Self::Failed, Self::Cancelled]
            .into_iter()
            .find(|status| status.as_str() == text)
            .ok_or_else(|| {
                Error::new(ErrorCode::BadRequest, format!("`{text}` is not a run status"))
                    .with_help("a status is running, succeeded, failed or cancelled")
            })
    }
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallEnd {
    /// When.
    pub at: Timestamp,
    /// Whether it went well.
    pub ok: bool,
    /// The failure's code.
    pub code: Option<String>,
    /// The result, in exact form, where it went well.
    pub result: Option<Json>,
    /// The failure as the plan sees it.
    pub error: Option<Json>,
    /// Size of the result.
    pub result_bytes: u64,
    /// How long the tool took.
    pub duration_ms: u64,
}

/// One call of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallState {
    /// The call's position in the program.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// What the tool does to the world; absent where the call was refused.
    pub effect: Option<Effect>,
    /// The arguments as recorded.
    pub arguments: Json,
    /// The same for every repetition of this call; absent where the call was refused.
    pub idempotency_key: Option<String>,
    /// Line of the plan.
    pub line: Option<u32>,
    /// When it was allowed or refused.
    pub started_at: Timestamp,
    /// Whether it was refused, so that the tool was never asked.
    pub refused: bool,
    /// How it ended. A call that was allowed and has no end is in doubt.
    pub end: Option<CallEnd>,
}

/// A run, folded from its records.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunState {
    /// The run.
    pub run_id: RunId,
    /// How far it has come.
    pub status: RunStatus,
    /// Time of its first record.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The task in plain words, where there was one.
    pub task: Option<String>,
    /// The plan's name.
    pub plan_name: Option<String>,
    /// Whether its calls were answered by mocks.
    pub mocked: bool,
    /// Hash of the last plan proposed, or of the plan the run began with.
    pub plan_hash: Option<ContentHash>,
    /// Source of the last plan proposed.
    pub source: Option<String>,
    /// The context it began with.
    pub context: Json,
    /// Its limits.
    pub limits: Json,
    /// The calls, in the order they were allowed or refused.
    pub calls: Vec<CallState>,
    /// What it returned, in plain form.
    pub result: Option<Json>,
    /// Why it failed, as every edge sends it.
    pub error: Option<Json>,
    /// The code it failed with.
    pub code: Option<String>,
    /// What the plan printed.
    pub printed: String,
    /// What it used; known once it has ended.
    pub usage: Option<Usage>,
}

/// A run in short, as lists show it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunSummary {
    /// The run.
    pub run_id: RunId,
    /// Time of its first record.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The task in plain words, where there was one.
    pub task: Option<String>,
    /// The plan's name.
    pub plan_name: Option<String>,
    /// Whether its calls were answered by mocks.
    pub mocked: bool,
    /// Hash of the plan.
    pub plan_hash: Option<ContentHash>,
    /// How far it has come.
    pub status: RunStatus,
    /// The code it failed with.
    pub code: Option<String>,
    /// What it used; known once it has ended.
    pub usage: Option<Usage>,
    /// Calls allowed so far; refused ones are not counted.
    pub tool_calls: u64,
}

impl RunState {
    /// The state after `records`, oldest first and all of one run; `None` where there are none.
    /// Records of other runs are passed over.
    pub fn fold<'a>(records: impl IntoIterator<Item = &'a Record>) -> Option<Self> {
        let mut records = records.into_iter();
        let mut state = Self::begin(records.next()?);
        for record in records {
            state.apply(record);
        }
        Some(state)
    }

    fn begin(first: &Record) -> Self {
        let mut state = Self {
            run_id: first.event.run_id.clone(),
            status: RunStatus::Running,
            started_at: first.event.at,
            ended_at: None,
            task: None,
            plan_name: None,
            mocked: false,
            plan_hash: None,
            source: None,
            context: Json::Null,
            limits: Json::Null,
            calls: Vec::new(),
            result: None,
            error: None,
            code: None,
            printed: String::new(),
            usage: None,
        };
        state.apply(first);
        state
    }

    /// The state after one more record.
    pub fn apply(&mut self, record: &Record) {
        if record.event.run_id != self.run_id {
            return;
        }
        let at = record.event.at;
        match &record.event.body {
            EventBody::RunStarted { task, plan_hash, plan_name, context, limits, mocked, .. } => {
                self.mocked = *mocked;
                self.task.clone_from(task);
                self.plan_hash.clone_from(plan_hash);
                self.plan_name.clone_from(plan_name);
                self.context.clone_from(context);
                self.limits.clone_from(limits);
            }
            EventBody::PlanProposed { source, plan_hash, .. } => {
                self.source = Some(source.clone());
                self.plan_hash = Some(plan_hash.clone());
            }
            EventBody::Printed { text } => self.printed.push_str(text),
            EventBody::RunFinished { result, usage, .. } => {
                self.result = Some(result.clone());
                self.finish(RunStatus::Succeeded, at, *usage);
            }
            EventBody::RunFailed { code, error, usage, .. } => {
                self.code = Some(code.clone());
                self.error = Some(error.clone());
                self.finish(RunStatus::Failed, at, *usage);
            }
            EventBody::RunCancelled { usage, .. } => self.finish(RunStatus::Cancelled, at, *usage),
            body => self.apply_call(body, at),
        }
    }

    fn apply_call(&mut self, body: &EventBody, at: Timestamp) {
        match body {
            EventBody::ToolCallStarted {
                call_id, tool, effect, arguments, line, idempotency_key, ..
            } => {
                self.calls.push(CallState {
                    call_id: call_id.clone(),
                    tool: tool.clone(),
                    effect: Some(*effect),
                    arguments: arguments.clone(),
                    idempotency_key: Some(idempotency_key.clone()),
                    line: *line,
                    started_at: at,
                    refused: false,
                    end: None,
                });
            }
            EventBody::ToolCallRefused { call_id, tool, code, error, arguments } => {
                self.calls.push(CallState {
                    call_id: call_id.clone(),
                    tool: tool.clone(),
                    effect: None,
                    arguments: arguments.clone(),
                    idempotency_key: None,
                    line: None,
                    started_at: at,
                    refused: true,
                    end: Some(CallEnd {
                        at,
                        ok: false,
                        code: Some(code.clone()),
                        result: None,
                        error: Some(error.clone()),
                        result_bytes: 0,
                        duration_ms: 0,
                    }),
                });
            }
            EventBody::ToolCallFinished {
                call_id,
                ok,
                code,
                result,
                error,
                result_bytes,
                duration_ms,
                ..
            } => {
                let open =
                    self.calls.iter_mut().rev().find(|call| call.call_id == *call_id && call.end.is_none());
                if let Some(call) = open {
                    call.end = Some(CallEnd {
                        at,
                        ok: *ok,
                        code: code.clone(),
                        result: result.clone(),
                        error: error.clone(),
                        result_bytes: *result_bytes,
                        duration_ms: *duration_ms,
                    });
                }
            }
            _ => {}
        }
    }

    fn finish(&mut self, status: RunStatus, at: Timestamp, usage: Usage) {
        self.status = status;
        self.ended_at = Some(at);
        self.usage = Some(usage);
    }

    /// The calls that were allowed and have no recorded end: whether they took effect is not known.
    pub fn calls_in_doubt(&self) -> impl Iterator<Item = &CallState> {
        self.calls.iter().filter(|call| call.end.is_none())
    }

    /// The run in short.
    #[must_use]
    pub fn summary(&self) -> RunSummary {
        RunSummary {
            run_id: self.run_id.clone(),
            started_at: self.started_at,
            ended_at: self.ended_at,
            task: self.task.clone(),
            plan_name: self.plan_name.clone(),
            mocked: self.mocked,
            plan_hash: self.plan_hash.clone(),
            status: self.status,
            code: self.code.clone(),
            usage: self.usage,
            tool_calls: self.calls.iter().filter(|call| !call.refused).count() as u64,
        }
    }
}
