//! `ask_person(question)`: the run continues with a person's answer.
//!
//! The question is journaled before the run is suspended, and the answer when it is given. The call is started again
//! when the run resumes, and ends with the recorded answer. Once the time for it is over, the call itself records
//! that, in one transaction with the look for an answer: of a late answer and the end of the time one counts.
//!
//! **Never here:** answering, or waking a run.

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use luaplan_base::{CallId, CallOutcome, ErrorCode, ToolFailure, Value};
use luaplan_bus::{AskedQuestion, Invocation, Progress, Suspension, Tool};
use luaplan_catalog::ToolSpec;
use luaplan_journal::{ConflictGuard, Durability, EventBody, QuestionState, RunLog, Settled};

/// The tool.
pub struct AskPerson {
    spec: ToolSpec,
}

impl AskPerson {
    /// The tool; it has no settings.
    #[must_use]
    pub const fn new(spec: ToolSpec) -> Self {
        Self { spec }
    }
}

#[async_trait]
impl Tool for AskPerson {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        self.begin(invocation).await.into_outcome()
    }

    async fn begin(&self, invocation: Invocation) -> Progress {
        ask(invocation).await.unwrap_or_else(|failure| Progress::Ended(Err(failure)))
    }
}

async fn ask(invocation: Invocation) -> Result<Progress, ToolFailure> {
    let log = &invocation.log;
    let asked = match invocation.question {
        Some(known) => known,
        None => put(log, question(&invocation.call_id, &invocation.arguments, log)?).await?,
    };
    if let Some(given) = &asked.answer {
        return Ok(Progress::Ended(outcome(&asked, given.answer.clone())));
    }
    if asked.is_overdue(log.clock().now()) {
        let answer = time_is_over(log, &asked).await?;
        return Ok(Progress::Ended(outcome(&asked, answer)));
    }
    let asked = AskedQuestion::of(invocation.run_id, &asked);
    Ok(Progress::Suspended(Suspension::Questions(vec![asked])))
}

/// The question of the arguments, which fit the manifest.
fn question(call_id: &CallId, arguments: &Value, log: &RunLog) -> Result<QuestionState, ToolFailure> {
    let given = |name: &str| arguments.as_object().and_then(|arguments| arguments.get(name));
    let text = |name: &str| match given(name) {
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let choices: Vec<String> = match given("choices") {
        Some(Value::Array(choices)) => choices.iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        _ => Vec::new(),
    };
    let (question, default) = (text("question").unwrap_or_default(), text("default"));
    let refused = |parameter: &str, message: &str| {
        ToolFailure::new(ErrorCode::BadArguments, format!("{message}; nobody was asked"))
            .with_detail("parameter", parameter)
    };
    if question.trim().is_empty() {
        return Err(refused("question", "`question` has no words"));
    }
    if default.as_ref().is_some_and(|default| !choices.is_empty() && !choices.contains(default)) {
        return Err(refused("default", "`default` is none of `choices`"));
    }
    // Each can become the answer, which must be on record.
    if log.redactor().finds_in(&json!([choices, default])) {
        return Err(refused("choices", "`choices` or `default` holds a secret"));
    }
    let now = log.clock().now();
    let seconds = match given("timeout_seconds") {
        Some(Value::Integer(seconds)) => Some(SignedDuration::from_secs(*seconds)),
        Some(Value::Float(seconds)) => SignedDuration::try_from_secs_f64(*seconds).ok(),
        _ => None,
    };
    let answer_by: Option<Timestamp> = match seconds {
        Some(time) => Some(
            now.checked_add(time)
                .map_err(|_| refused("timeout_seconds", "`timeout_seconds` is out of range"))?,
        ),
        None => None,
    };
    Ok(QuestionState {
        call_id: call_id.clone(),
        question,
        choices,
        default,
        answer_by,
        asked_at: now,
        asked_sequence: 0,
        answer: None,
    })
}

/// Journals the question.
async fn put(log: &RunLog, asked: QuestionState) -> Result<QuestionState, ToolFailure> {
    let body = EventBody::QuestionAsked {
        call_id: asked.call_id.clone(),
        question: asked.question.clone(),
        choices: asked.choices.clone(),
        default: asked.default.clone(),
        answer_by: asked.answer_by,
    };
    log.emit(body, Durability::Ordered).await?;
    Ok(asked)
}

/// Journals that nobody answered in time, and gives the default; where somebody did a moment before, that answer.
async fn time_is_over(log: &RunLog, asked: &QuestionState) -> Result<Option<String>, ToolFailure> {
    let body = EventBody::QuestionAnswered {
        call_id: asked.call_id.clone(),
        answer: asked.default.clone(),
        by: None,
        goes_on: false,
        os_user: None,
    };
    let unless = ConflictGuard {
        run_id: log.run_id().clone(),
        call_id: asked.call_id.clone(),
        after_sequence: asked.asked_sequence,
        by_events: &["question_answered"],
    };
    Ok(match log.settle(vec![body], unless).await? {
        Settled::Written(_) => asked.default.clone(),
        Settled::Conflict(first) => match first.event.body {
            EventBody::QuestionAnswered { answer, .. } => answer,
            _ => None,
        },
    })
}

fn outcome(asked: &QuestionState, answer: Option<String>) -> CallOutcome {
    answer.map(Value::from).ok_or_else(|| {
        let until = asked.answer_by.map_or_else(String::new, |until| format!(" until {until:.0}"));
        let message = format!("nobody answered{until}");
        ToolFailure::new(ErrorCode::QuestionUnanswered, message)
    })
}
