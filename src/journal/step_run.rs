//! The named steps of a run's plan, folded from its records.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use luaplan_base::StepState;

use super::{EventBody, Record, Word};

/// A named step that the source of a plan shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeclaredStep {
    /// Its name.
    pub name: String,
    /// The line that declares it.
    pub line: u32,
    /// The steps it depends on, as far as they stand there as texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
}

/// The events that tell of steps.
pub const STEP_EVENTS: &[&str] = &["plan_accepted", "step_started", "step_finished"];

/// One step of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepRun {
    /// Its name.
    pub name: String,
    /// How far it has come.
    pub state: Word<StepState>,
    /// The steps it depends on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// The line of the plan that declares it, or of its function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// How many attempts were made, once it has ended.
    pub attempts: u32,
    /// When it began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_at: Option<Timestamp>,
    /// When it ended or was skipped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// Why it is not complete: a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Why it is not complete, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl StepRun {
    fn pending(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            state: StepState::Pending.into(),
            depends_on: Vec::new(),
            line: None,
            attempts: 0,
            started_at: None,
            ended_at: None,
            code: None,
            message: None,
        }
    }
}

/// The named steps that these records tell of, oldest record first.
pub fn steps_of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Vec<StepRun> {
    let mut steps = Vec::new();
    for record in records {
        apply(&mut steps, &record.event.body, record.event.at);
    }
    steps
}

/// The steps after one more event. Those of an earlier plan go when another plan starts.
pub(super) fn apply(steps: &mut Vec<StepRun>, body: &EventBody, at: Timestamp) {
    match body {
        EventBody::PlanAccepted { steps: declared, .. } => {
            let pending = declared.iter().map(|step| StepRun {
                depends_on: step.depends_on.clone(),
                line: Some(step.line),
                ..StepRun::pending(&step.name)
            });
            *steps = pending.collect();
        }
        EventBody::StepStarted { step, depends_on, line, .. } => {
            let known = of_name(steps, step);
            known.state = StepState::Running.into();
            known.depends_on.clone_from(depends_on);
            known.line = known.line.or(*line);
            known.started_at = Some(at);
        }
        EventBody::StepFinished { step, state, attempts, code, message } => {
            let known = of_name(steps, step);
            known.state = state.clone();
            known.attempts = *attempts;
            known.ended_at = Some(at);
            known.code.clone_from(code);
            known.message.clone_from(message);
        }
        _ => {}
    }
}

fn of_name<'a>(steps: &'a mut Vec<StepRun>, name: &str) -> &'a mut StepRun {
    let place = steps.iter().position(|step| step.name == name).unwrap_or_else(|| {
        steps.push(StepRun::pending(name));
        steps.len() - 1
    });
    &mut steps[place]
}
