//! What a run is to do, and with what: the one form in which every edge asks for a run.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use luaplan_base::{Limits, RunId, Value};
use luaplan_bus::{CallHandler, Circumstances};
use luaplan_journal::EventListener;
use luaplan_plan::CheckReport;

use super::planning::PlanningOptions;

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

    /// With listeners that are told of its events, and the token that ends it.
    #[must_use]
    pub fn with_listeners(self, listeners: Vec<EventListener>, cancel: CancellationToken) -> Self {
        Self { listeners, cancel, ..self }
    }
}
