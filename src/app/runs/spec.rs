//! What a run is to do, and with what: the one form in which every edge asks for a run.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use luaplan_base::{ContentHash, Error, ErrorCode, LimitName, Limits, Result, RunId, Value};
use luaplan_bus::{CallHandler, Circumstances};
use luaplan_journal::{Actor, EventListener};
use luaplan_plan::CheckReport;
use luaplan_planner::{CANDIDATES_MAX, Sample};

use super::resolutions::CallResolution;

/// The longest name of a plan.
const NAME_CHARACTERS_MAX: usize = 128;

/// What is to be run.
#[derive(Debug, Clone)]
pub enum Work {
    /// A task in plain words; a model writes the plan.
    Task(String),
    /// A saved plan.
    Plan {
        /// The name used in messages.
        name: String,
        /// Its source.
        source: String,
    },
}

/// One run, as its caller asks for it. [`RunSpec::new`] makes one that a caller of this machine starts unmocked; what
/// differs is set by its fields or by the methods named after them.
#[derive(Clone)]
pub struct RunSpec {
    /// The run's id, known before the run starts.
    pub run_id: RunId,
    /// What is to be run.
    pub work: Work,
    /// The context handed to `run`; `None` takes the named context's latest version, or `{}`.
    pub context: Option<Value>,
    /// A context kept between runs.
    pub context_name: Option<String>,
    /// How a task is planned.
    pub planning: PlanningOptions,
    /// What the run may use.
    pub limits: Limits,
    /// Whose run it is, and how much it does unasked.
    pub circumstances: Circumstances,
    /// What answers calls instead of the bus: mocks.
    pub handler: Option<Arc<dyn CallHandler>>,
    /// Told of every event of the run.
    pub listeners: Vec<EventListener>,
    /// Cancelled to end the run.
    pub cancel: CancellationToken,
    /// The run that this one starts over.
    pub starts_over: Option<RunId>,
    /// The run whose plan this one changes.
    pub follows: Option<RunId>,
    /// Whether a person confirms each plan for the task before anything of it runs. Mocked runs ask nobody.
    pub approve: bool,
    /// What the check found of this plan with this context and these limits; `None` has the run check it.
    pub checked: Option<CheckReport>,
}

impl RunSpec {
    /// A run of `work` under `limits`, with a new id and nothing else set.
    #[must_use]
    pub fn new(work: Work, limits: Limits) -> Self {
        Self {
            run_id: RunId::generate(),
            work,
            context: None,
            context_name: None,
            planning: PlanningOptions::default(),
            limits,
            circumstances: Circumstances::default(),
            handler: None,
            listeners: Vec::new(),
            cancel: CancellationToken::new(),
            starts_over: None,
            follows: None,
            approve: false,
            checked: None,
        }
    }

    /// A run of the saved plan `source`, called `name` in messages.
    #[must_use]
    pub fn plan(name: impl Into<String>, source: impl Into<String>, limits: Limits) -> Self {
        Self::new(Work::Plan { name: name.into(), source: source.into() }, limits)
    }

    /// A run of a task in plain words.
    #[must_use]
    pub fn task(task: impl Into<String>, limits: Limits) -> Self {
        Self::new(Work::Task(task.into()), limits)
    }

    /// With a context, and the name of one that is kept between runs.
    #[must_use]
    pub fn with_context(self, context: Option<Value>, name: Option<String>) -> Self {
        Self { context, context_name: name, ..self }
    }

    /// With the options a task is planned by.
    #[must_use]
    pub fn with_planning(self, planning: PlanningOptions) -> Self {
        Self { planning, ..self }
    }

    /// With who starts it, and how much it does unasked.
    #[must_use]
    pub fn with_circumstances(self, circumstances: Circumstances) -> Self {
        Self { circumstances, ..self }
    }

    /// With whether a person confirms each plan for the task.
    #[must_use]
    pub fn with_approval(self, approve: bool) -> Self {
        Self { approve, ..self }
    }

    /// With listeners that are told of its events, and the token that ends it.
    #[must_use]
    pub fn with_listeners(self, listeners: Vec<EventListener>, cancel: CancellationToken) -> Self {
        Self { listeners, cancel, ..self }
    }
}

/// A run to resume.
pub struct ResumeRequest {
    /// The run.
    pub run_id: RunId,
    /// What is known about its calls in doubt.
    pub resolutions: Vec<CallResolution>,
    /// Who else is told of every event.
    pub listeners: Vec<EventListener>,
    /// Cancelled to end the run.
    pub cancel: CancellationToken,
    /// Who asks for it; `None` for a timer or a node that claims it. Where the run is cancelled already, who did that.
    pub by: Option<Actor>,
}

impl ResumeRequest {
    /// Without resolutions and without listeners.
    #[must_use]
    pub fn new(run_id: RunId, cancel: CancellationToken) -> Self {
        Self { run_id, resolutions: Vec::new(), listeners: Vec::new(), cancel, by: None }
    }
}

/// How a task should be planned, where it is not as configured.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlanningOptions {
    /// How many plans to choose from; `None` takes `planner.candidates`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<u32>,
    /// A `*_test.lua` the plan must pass before it is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tests: Option<PathBuf>,
    /// By how many plans an autonomous run works at most; `None` takes `autonomous.max_iterations`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_iterations: Option<u32>,
    /// Prompts of MCP servers whose texts are put before the planner.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<PromptRef>,
    /// The plan that the task changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revises: Option<RevisedPlan>,
    /// Beginnings of data that a person shares with the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<Sample>,
}

/// A plan that is to be changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RevisedPlan {
    /// Its source.
    pub source: String,
    /// The task it was written for, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Hashes of the data that it was written after, where that is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub influenced_by: Vec<ContentHash>,
}

/// A prompt of an MCP server, and what it is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptRef {
    /// `SERVER.prompt`.
    pub name: String,
    /// Its arguments.
    pub arguments: BTreeMap<String, String>,
}

impl PlanningOptions {
    /// As the journal keeps it, so that a run broken off before it had a plan is planned as it was asked for;
    /// nothing where nothing was wished.
    pub(crate) fn to_record(&self) -> Option<Json> {
        (*self != Self::default()).then(|| serde_json::to_value(self).ok()).flatten()
    }

    /// What the journal kept.
    ///
    /// # Errors
    /// `journal_corrupt` for what is none of it.
    pub(crate) fn from_record(kept: Option<&Json>) -> Result<Self> {
        let Some(kept) = kept else { return Ok(Self::default()) };
        Self::deserialize(kept).map_err(|error| {
            let what = format!("how the task was to be planned cannot be read: {error}");
            Error::new(ErrorCode::JournalCorrupt, what)
        })
    }

    /// Whether the numbers of candidates and of iterations are ones that can be asked for.
    ///
    /// # Errors
    /// `bad_request` for none, more than eight candidates or 1,000 iterations.
    pub fn validate(&self) -> Result<()> {
        self.max_iterations.map_or(Ok(()), check_iterations)?;
        match self.candidates {
            Some(wanted) if !(1..=CANDIDATES_MAX).contains(&wanted) => Err(Error::new(
                ErrorCode::BadRequest,
                format!("`candidates` is {wanted}; from 1 to {CANDIDATES_MAX} plans can be asked for"),
            )
            .with_limit(CANDIDATES_MAX, wanted)
            .with_help(format!("ask for 1 to {CANDIDATES_MAX}"))),
            _ => Ok(()),
        }
    }
}

/// The most iterations of an autonomous run that can be asked for.
pub(crate) const ITERATIONS_MAX: u32 = 1_000;

/// Whether an autonomous run may have so many iterations.
///
/// # Errors
/// `bad_request` for none or more than 1,000.
pub(crate) fn check_iterations(wanted: u32) -> Result<()> {
    if (1..=ITERATIONS_MAX).contains(&wanted) {
        return Ok(());
    }
    let message = format!("`max_iterations` is {wanted}; from 1 to {ITERATIONS_MAX} can be asked for");
    Err(Error::new(ErrorCode::BadRequest, message)
        .with_limit(ITERATIONS_MAX, wanted)
        .with_help(format!("ask for 1 to {ITERATIONS_MAX}")))
}

/// Whether a plan may be called that.
///
/// # Errors
/// `bad_request` where the name is empty or too long, or would not stay on its line.
pub fn check_plan_name(name: &str) -> Result<()> {
    let length = name.chars().count();
    // Names stand in log lines, lists and messages: a line break would make up a line of its own.
    if let Some(seen) = name.chars().find(|character| breaks_a_line(*character)) {
        let message = format!("`name` has the character {:?}, which is no text", seen.to_string());
        return Err(Error::new(ErrorCode::BadRequest, message)
            .with_help("leave it out, or give one without line breaks and control characters"));
    }
    if (1..=NAME_CHARACTERS_MAX).contains(&length) {
        return Ok(());
    }
    Err(Error::new(ErrorCode::BadRequest, "`name` is empty or too long")
        .with_limit(NAME_CHARACTERS_MAX, length)
        .with_help("leave it out, or give one that fits on a line"))
}

/// Control characters, separators of lines and paragraphs, and marks that turn the direction of writing.
fn breaks_a_line(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}' | '\u{2029}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// The server's limits with the request's below them. A request can ask for less, never for more.
///
/// # Errors
/// `bad_request` for a limit that is not known, not a number with its unit, or above the server's.
pub fn lowered(server: &Limits, wanted: &BTreeMap<String, Json>) -> Result<Limits> {
    let mut limits = server.clone();
    for (name, value) in wanted {
        let bad = |error: &Error| {
            Error::new(ErrorCode::BadRequest, format!("limits.{name}: {}", error.message()))
                .with_help(error.help().to_owned())
        };
        let limit: LimitName = name.parse().map_err(|error| bad(&error))?;
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        limits.set(limit, &text).map_err(|error| bad(&error))?;
        if limits.get(limit) > server.get(limit) {
            let message = format!("limits.{name} is above the server's own");
            return Err(
                Error::new(ErrorCode::BadRequest, message).with_limit(server.get(limit), limits.get(limit))
            );
        }
    }
    Ok(limits)
}
