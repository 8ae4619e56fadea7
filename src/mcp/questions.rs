//! Shows the client's user what a run asks a person, and takes the answer.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResponse, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema,
};
use rmcp::service::RequestContext;
use serde_json::{Value as Json, json};

use luaplan_app::{Access, AfterDecision, OpenQuestion, question_of};
use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_journal::{Redactor, neutralize};

use super::answer::done;
use super::arguments::AnswerQuestion;
use super::caller::caller_of;
use super::progress::ProgressReporter;
use super::run_tools::wait_of;
use super::server::McpServer;
use super::wait::ResumeReason;

/// The question and the form for its answer.
pub(super) fn form(open: &OpenQuestion, redactor: &Redactor) -> Option<ElicitRequestParams> {
    let asked = &open.asked;
    let shown = |text: &str| neutralize(&redactor.text(text));
    let mut answer = json!({ "type": "string", "title": "Answer" });
    if !asked.choices.is_empty() {
        answer["enum"] = json!(asked.choices);
    }
    if let Some(default) = &asked.default {
        answer["description"] = shown(&format!("`{default}` where nobody answers in time")).into();
    }
    let form = json!({ "type": "object", "properties": { "answer": answer }, "required": ["answer"] });
    let schema = ElicitationSchema::from_json_schema(form.as_object().cloned()?).ok()?;
    let until = asked.answer_by.map_or_else(String::new, |until| format!(", until {until:.0}"));
    let message = format!(
        "The program asks:\n\n{}\n\nRun {}, call {}{until}.",
        asked.question, open.run_id, asked.call_id
    );
    Some(ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: shown(&message),
        requested_schema: schema,
    })
}

/// Records what the person answered; `false` where they did not.
pub(super) async fn take(access: &Access<'_>, open: &OpenQuestion, answered: &ElicitResult) -> bool {
    if answered.action != ElicitationAction::Accept {
        return false;
    }
    let given = answered.content.as_ref().and_then(|content| content.get("answer")).and_then(Json::as_str);
    let question = (&open.run_id, open.asked.call_id.as_str());
    match access.answer_question(question, given.unwrap_or_default(), AfterDecision::GoesOn).await {
        Ok(_) => true,
        // Another person answered meanwhile: the run may be resumed all the same.
        Err(error) if error.code() == ErrorCode::AnswerStale => true,
        Err(error) => {
            tracing::warn!(error = ?error.to_string(), "a person's answer could not be used");
            false
        }
    }
}

impl McpServer {
    /// A person's answer, which the client was told otherwise than by a form.
    pub(super) async fn answer_question(
        &self,
        args: AnswerQuestion,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse> {
        let (run_id, wait): (RunId, _) = (args.run_id.parse()?, wait_of(args.wait.as_deref())?);
        let caller = caller_of(context);
        let access = self.runs().access(&caller);
        let open = access.open_questions(Some(&run_id)).await?;
        let journal = self.app().journal();
        let meant = question_of(&**journal, &run_id, &open, args.call_id.as_deref()).await?;
        let question = (&meant.run_id, meant.asked.call_id.as_str());
        access.answer_question(question, &args.answer, AfterDecision::GoesOn).await?;
        if access.waits_for_person(&run_id).await? || access.waits_for_answer(&run_id).await? {
            return Ok(done(access.report_of_acted_on(&run_id).await?).into());
        }
        let progress = ProgressReporter::asked_for(context);
        let run = self.resume_or_join(&run_id, ResumeReason::Decided, progress.as_ref(), context).await?;
        self.follow(&run_id, (run, access.may_cancel(&run_id).await), wait, progress, context).await
    }
}

/// What a client is told that resumes a run whose question nobody answered.
pub(super) fn still_asks(run_id: &RunId) -> Error {
    Error::new(ErrorCode::AnswerRequired, "this run asks a person, and nobody answered here")
        .with_help("ask the person, and give their answer with `answer_question`")
        .with_detail("run_id", run_id.as_str())
}
