//! Plans that ask a person: a durable pause, an answer that counts once, on record. Real journal, real processes.

mod command;
mod http;
mod kills;
mod mcp;
mod planning;
mod runs;

use luaplan::app::{AfterDecision, App, ResumeRequest};
use luaplan::base::{ErrorCode, Result, RunId};
use luaplan::engine::RunOutcome;
use luaplan::journal::{Actor, QuestionState, RunStatus};
use tokio_util::sync::CancellationToken;

/// Asks which month, among two.
pub(crate) const ASKS: &str = r#"function run()
  local month = ask_person{ question = "Which month?", choices = { "May", "June" } }
  if type(month) ~= "string" then return { code = month.code } end
  return { month = month }
end"#;

/// Answers in the name of `by`; the run stays paused.
async fn answer(app: &App, run_id: &RunId, call: &str, text: &str, by: &str) -> Result<QuestionState> {
    app.approvals().answer((run_id, call), text, AfterDecision::StaysPaused, &Actor::named(by)).await
}

fn resume_request(run_id: &RunId) -> ResumeRequest {
    ResumeRequest::new(run_id.clone(), CancellationToken::new())
}

fn assert_waits(outcome: &RunOutcome) {
    let code = outcome.error().map(|error| error.code());
    assert_eq!((outcome.status(), code), (RunStatus::Paused, Some(ErrorCode::AnswerRequired)), "{outcome:?}");
}
