//! Asks the client's user about calls and plans that wait for approval, and what runs ask a person.
//!
//! The assistant that wrote a program never approves its calls: the question goes to its client,
//! which shows it to a person and returns that person's choice. Clients of protocol revision
//! 2026-07-28 get the questions as the answer to their call and call again with the answers; others are
//! asked while their call waits.

use std::collections::BTreeMap;
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{
    ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema, InputRequest,
    InputRequiredResult, InputResponses, ProtocolVersion,
};
use rmcp::service::RequestContext;
use serde_json::{Value as Json, json};

use luaplan_app::{Access, AfterDecision, ApprovalAnswer, OpenQuestion, PendingApproval};
use luaplan_base::{CallId, Error, ErrorCode, Result, RunId, parse_duration};
use luaplan_bus::Tier;
use luaplan_journal::{Redactor, neutralize};

use super::caller::caller_of;
use super::questions;
use super::server::McpServer;

type Context = RequestContext<RoleServer>;

/// How long a person has to answer one question; after that the call returns and the run stays paused.
const ANSWER_MAX: Duration = Duration::from_secs(10 * 60);

/// A call with longer arguments cannot be shown whole, so no question is asked here.
const ARGUMENTS_CHARACTERS_MAX: usize = 8_000;

/// The result of asking about a paused run.
pub(super) enum Elicited {
    /// A decision was made: the run can be resumed.
    Decided,
    /// The questions must be the answer to the client's call.
    ByAnswer(Box<InputRequiredResult>),
    /// No person can be asked here, or none decided.
    Nothing,
}

/// Whether the client declares that it shows forms to a person.
fn shows_forms(context: &Context) -> bool {
    let elicitation = context.client_capabilities().and_then(|all| all.elicitation);
    // A client that declares no kind supports forms.
    elicitation.is_some_and(|kinds| kinds.form.is_some() || kinds.url.is_none())
}

impl McpServer {
    /// What a person at the client can be asked about a paused run: its plan, its calls whose tier is
    /// `prompt`, and its questions.
    async fn asked(&self, access: &Access<'_>, run_id: &RunId) -> Result<Vec<Asked>> {
        let redactor = self.app().history().redactor();
        let mut asked = Vec::new();
        if access.may_decide(run_id).await {
            let pending = access.pending_approvals(Some(run_id)).await?;
            let pending = pending.iter().filter(|waits| waits.request.tier == Tier::Prompt);
            asked.extend(pending.filter_map(|waits| {
                let id = waits.request.approval_id.clone();
                Some(Asked { id, form: question(waits, redactor)?, about: About::Call })
            }));
        }
        if access.may_answer(run_id).await {
            let open = access.open_questions(Some(run_id)).await?;
            asked.extend(open.into_iter().filter_map(|open| {
                let (id, form) = (open.question_id.clone(), questions::form(&open, redactor)?);
                Some(Asked { id, form, about: About::Question(Box::new(open)) })
            }));
        }
        Ok(asked)
    }

    /// Asks what a person can be asked about a paused run.
    pub(super) async fn ask(&self, run_id: &RunId, context: &Context) -> Result<Elicited> {
        let caller = caller_of(context);
        let access = self.runs().access(&caller);
        if !shows_forms(context) {
            return Ok(Elicited::Nothing);
        }
        let questions = self.asked(&access, run_id).await?;
        if questions.is_empty() {
            return Ok(Elicited::Nothing);
        }
        if context.protocol_version().is_some_and(|version| version >= ProtocolVersion::V_2026_07_28) {
            let requests: BTreeMap<String, InputRequest> = questions
                .into_iter()
                .map(|asked| (asked.id, InputRequest::Elicitation(ElicitRequest::new(asked.form))))
                .collect();
            let asked = InputRequiredResult::new(Some(requests), Some(run_id.to_string()));
            return Ok(Elicited::ByAnswer(Box::new(asked)));
        }
        let mut decided = false;
        for Asked { id, form, about } in questions {
            let asked = context.peer.create_elicitation_with_timeout(form, Some(ANSWER_MAX));
            let answered = tokio::select! {
                answered = asked => answered,
                () = context.ct.cancelled() => break,
            };
            match answered {
                Ok(answered) => decided |= about.take(&access, &id, &answered).await,
                Err(error) => {
                    tracing::warn!(error = ?error.to_string(), "the client did not answer a question");
                    break;
                }
            }
        }
        Ok(if decided { Elicited::Decided } else { Elicited::Nothing })
    }

    /// Applies the answers to questions that were the answer to a call; returns whether a decision was made.
    pub(super) async fn take_answers(
        &self,
        run_id: &RunId,
        answers: &InputResponses,
        context: &Context,
    ) -> Result<bool> {
        let caller = caller_of(context);
        let access = self.runs().access(&caller);
        let mut decided = false;
        // A caller who may neither decide nor answer is told so.
        access.open_questions(Some(run_id)).await?;
        // An answer cannot decide a call that was never shown to a person.
        for Asked { id, about, .. } in self.asked(&access, run_id).await? {
            let Some(answer) = answers.get(&id) else { continue };
            let answer: ElicitResult = serde_json::from_value(answer.clone()).map_err(|error| {
                Error::new(ErrorCode::BadRequest, format!("the answer to `{id}` is none: {error}"))
            })?;
            decided |= about.take(&access, &id, &answer).await;
        }
        Ok(decided)
    }
}

/// What a person is asked, under the id that names it.
struct Asked {
    id: String,
    form: ElicitRequestParams,
    about: About,
}

/// What it is about.
enum About {
    /// A call that waits for approval.
    Call,
    /// A question of the run.
    Question(Box<OpenQuestion>),
}

impl About {
    /// Applies the answer; says whether it decided anything.
    async fn take(&self, access: &Access<'_>, id: &str, answered: &ElicitResult) -> bool {
        match self {
            Self::Call => take_usable(access, id, answered).await,
            Self::Question(open) => questions::take(access, open, answered).await,
        }
    }
}

async fn take_answer(access: &Access<'_>, approval_id: &str, answered: &ElicitResult) -> Result<bool> {
    let answer = match answered.action {
        ElicitationAction::Accept => chosen(answered.content.as_ref())?,
        // Without words there is nothing to plan anew by: the plan waits on.
        ElicitationAction::Decline if is_of_plan(approval_id) => return Ok(false),
        ElicitationAction::Decline => ApprovalAnswer::Deny("the person at the client declined".to_owned()),
        _ => return Ok(false),
    };
    match access.decide(approval_id, answer, AfterDecision::GoesOn).await {
        Ok(_) => Ok(true),
        // Another approver decided meanwhile: the run may be resumed all the same.
        Err(error) if error.code() == ErrorCode::ApprovalStale => Ok(true),
        Err(error) => Err(error),
    }
}

/// As [`take_answer`]; an invalid answer decides nothing.
async fn take_usable(access: &Access<'_>, approval_id: &str, answered: &ElicitResult) -> bool {
    take_answer(access, approval_id, answered).await.unwrap_or_else(|error| {
        tracing::warn!(error = ?error.to_string(), "a person's answer could not be used");
        false
    })
}

/// The person's choice in the form.
fn chosen(content: Option<&Json>) -> Result<ApprovalAnswer> {
    let text = |name: &str| {
        content
            .and_then(|content| content.get(name))
            .and_then(Json::as_str)
            .map(str::trim)
            .unwrap_or_default()
    };
    let bad = |what: String| Error::new(ErrorCode::BadRequest, what);
    match text("decision") {
        "once" => Ok(ApprovalAnswer::Once),
        "for" => {
            let time =
                parse_duration(text("for")).map_err(|error| bad(format!("`for`: {}", error.message())))?;
            Ok(ApprovalAnswer::For(time))
        }
        "deny" => {
            let reason = Some(text("reason")).filter(|reason| !reason.is_empty());
            Ok(ApprovalAnswer::Deny(reason.unwrap_or("the person at the client denied it").to_owned()))
        }
        other => Err(bad(format!("`decision` is `{other}`, expected `once`, `for` or `deny`"))),
    }
}

/// Whether the request is about a whole plan.
fn is_of_plan(approval_id: &str) -> bool {
    approval_id.split(':').nth(1) == Some(CallId::WHOLE_PLAN)
}

/// The plan of a task, with what it would do; `None` for a call, and where the plan cannot be shown whole.
fn plan_question(waits: &PendingApproval, redactor: &Redactor) -> Option<ElicitRequestParams> {
    let plan = waits.request.plan.as_ref()?;
    let source = waits.request.arguments.get(CallId::WHOLE_PLAN)?.as_str()?;
    let said = plan.explanation.as_deref().unwrap_or("nothing");
    let message = format!(
        "May this program run?\n\nTask: {}\n\nThe model says (its own words, not checked): {said}\n\nWhat it would do:\n{}\n\n\
         The program:\n{source}\n\nRun {}.",
        waits.task.as_deref().unwrap_or_default(),
        plan.effects.trim_end(),
        waits.run_id
    );
    if message.chars().count() > ARGUMENTS_CHARACTERS_MAX {
        return None;
    }
    let form = json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string",
                "title": "Decision",
                "description": "once: run it; deny: do not, and have it planned anew",
                "enum": ["once", "deny"],
            },
            "reason": {
                "type": "string",
                "title": "What should be different",
                "description": "with `deny`; the model is told it",
            },
        },
        "required": ["decision"],
    });
    let form = ElicitationSchema::from_json_schema(form.as_object().cloned()?).ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: neutralize(&redactor.text(&message)),
        requested_schema: form,
    })
}

/// The exact call and the form for the decision; `None` where the call cannot be shown whole.
fn question(waits: &PendingApproval, redactor: &Redactor) -> Option<ElicitRequestParams> {
    let request = &waits.request;
    if request.plan.is_some() {
        return plan_question(waits, redactor);
    }
    let arguments = serde_json::to_string_pretty(&request.arguments).ok()?;
    if arguments.chars().count() > ARGUMENTS_CHARACTERS_MAX {
        return None;
    }
    let line = request.line.map_or_else(String::new, |line| format!(", line {line} of the program"));
    let message = format!(
        "May the program call `{}` ({}{line})?\n\nWhy you are asked: {}\nArguments:\n{arguments}\n\nRun {}, call {}.",
        request.tool,
        request.effect.as_str(),
        request.reason,
        waits.run_id,
        request.call_id
    );
    let form = json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string",
                "title": "Decision",
                "description": "once: this call; for: this call and those like it for a time; deny: do not make it",
                "enum": ["once", "for", "deny"],
            },
            "for": { "type": "string", "title": "For how long", "description": "with `for`, such as 1h" },
            "reason": { "type": "string", "title": "Reason", "description": "with `deny`; the program is told it" },
        },
        "required": ["decision"],
    });
    let form = ElicitationSchema::from_json_schema(form.as_object().cloned()?).ok()?;
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: neutralize(&redactor.text(&message)),
        requested_schema: form,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_says_one_thing() {
        let of = |content: Json| chosen(Some(&content));
        assert_eq!(of(json!({ "decision": "once" })).unwrap(), ApprovalAnswer::Once);
        let hour = ApprovalAnswer::For(Duration::from_secs(3600));
        assert_eq!(of(json!({ "decision": "for", "for": "1h" })).unwrap(), hour);
        assert!(
            matches!(of(json!({ "decision": "deny" })).unwrap(), ApprovalAnswer::Deny(why) if !why.is_empty())
        );
        for wrong in [json!({}), json!({ "decision": "for" }), json!({ "decision": "Once" }), json!("once")] {
            assert!(of(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(chosen(None).is_err());
    }
}
