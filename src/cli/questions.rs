//! What runs ask a person: shown, and asked at a terminal.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use luaplan_app::{AfterDecision, App, Caller, ResumeRequest, recorded_outcome};
use luaplan_base::{CallId, ErrorCode, Result, RunId};
use luaplan_engine::RunOutcome;
use luaplan_journal::{EventListener, JournalRead as _, QuestionState, RunStatus, neutralize};

use super::approvals::line;
use super::output::Output;
use super::sleeping::sleep_and_resume;

/// How often a run whose question has a time is looked at, as another process may answer it.
const LOOK: Duration = Duration::from_secs(1);

/// The question, what can be answered, and the command for it.
pub(super) fn describe(run_id: &RunId, asked: &QuestionState) -> String {
    let call = &asked.call_id;
    let mut lines = text_of(asked);
    lines.push(format!("  answer: luaplan answer {run_id} {call} TEXT"));
    neutralize(&lines.join("\n"))
}

/// Who asks: a call, or the model before it writes a plan.
pub(super) fn asker(call_id: &CallId) -> String {
    match call_id.is_before_plan() {
        true => "the model asks before it plans".to_owned(),
        false => format!("call {call_id} asks"),
    }
}

fn text_of(asked: &QuestionState) -> Vec<String> {
    let mut lines = vec![format!("{}: {}", asker(&asked.call_id), asked.question)];
    for (index, choice) in asked.choices.iter().enumerate() {
        lines.push(format!("  [{}] {choice}", index + 1));
    }
    if let Some(answer_by) = asked.answer_by {
        let then = match &asked.default {
            Some(default) => format!("then it is `{default}`"),
            None => "then the call fails".to_owned(),
        };
        lines.push(format!("  until {answer_by:.0}; {then}"));
    }
    lines
}

/// Asks the person at the terminal what a paused run asks; `true` where the run can go on with what is recorded.
pub(super) async fn ask(
    output: &Output,
    app: &App,
    run_id: &RunId,
    cancel: &CancellationToken,
) -> Result<bool> {
    let by = Caller::at_terminal();
    if let Err(refused) = app.approvals().may_answer(by.actor()) {
        output.note(neutralize(&format!("not asked here: {}; {}", refused.message(), refused.help())));
        return Ok(false);
    }
    let mut goes_on = false;
    for open in app.approvals().open_questions(Some(run_id)).await? {
        output.note(format_args!("\n{}", neutralize(&text_of(&open.asked).join("\n"))));
        loop {
            let Some(answer) = answer_to(app, &open.run_id, &open.asked, cancel).await else { break };
            let (question, then) = ((&open.run_id, open.asked.call_id.as_str()), AfterDecision::GoesOn);
            match app.approvals().answer(question, &answer, then, by.actor()).await {
                Ok(_) => {
                    goes_on = true;
                    break;
                }
                Err(error) => {
                    output.error(&error);
                    // Another person answered meanwhile, or the time is over: the run may be resumed all the same.
                    if error.code() == ErrorCode::AnswerStale {
                        goes_on = true;
                        break;
                    }
                }
            }
        }
        goes_on |= open.asked.is_overdue(app.history().now());
    }
    Ok(goes_on && !cancel.is_cancelled())
}

/// What the person types: an answer, or the number of a choice. `None` for an empty line, and once the time is over.
async fn answer_to(
    app: &App,
    run_id: &RunId,
    asked: &QuestionState,
    cancel: &CancellationToken,
) -> Option<String> {
    let time_is_over = async {
        match asked.answer_by {
            Some(answer_by) => drop(app.history().sleep_until(run_id, answer_by).await),
            None => std::future::pending().await,
        }
    };
    let said = tokio::select! {
        biased;
        said = line("answer (an empty line: later): ", cancel) => said?,
        () = time_is_over => return None,
    };
    let number = said.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let choice = number.and_then(|index| asked.choices.get(index)).filter(|_| !asked.choices.contains(&said));
    match choice {
        Some(choice) => Some(choice.clone()),
        None => Some(said).filter(|said| !said.is_empty()),
    }
}

/// Waits while a run asks somebody within a time, and resumes it once they answered or the time is over. Where the user
/// ends the command, the run stays paused.
pub(super) async fn wait_for_answers(
    output: &Output,
    app: &App,
    mut outcome: RunOutcome,
    listeners: &[EventListener],
    cancel: &CancellationToken,
) -> Result<RunOutcome> {
    while let Some(answer_by) = outcome.answer_by() {
        let run_id = outcome.run_id.clone();
        for open in app.approvals().open_questions(Some(&run_id)).await? {
            output.note(describe(&open.run_id, &open.asked));
        }
        output.progress(format_args!("waits for an answer until {answer_by:.0}"));
        while app.history().now() < answer_by && still_asks(app, &run_id).await? {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(outcome),
                _ = tokio::time::timeout(LOOK, app.history().sleep_until(&run_id, answer_by)) => {}
            }
        }
        let request = ResumeRequest {
            listeners: listeners.to_vec(),
            ..ResumeRequest::new(run_id.clone(), cancel.clone())
        };
        outcome = match app.runs().resume_to_rest(request).await {
            Ok(resumed) => sleep_and_resume(output, app, resumed, listeners, cancel).await?,
            // Who answered went on with it.
            Err(error) if matches!(error.code(), ErrorCode::RunActive | ErrorCode::RunNotResumable) => {
                output
                    .progress(format_args!("it was answered and goes on elsewhere: `luaplan show {run_id}`"));
                match end_elsewhere(app, &run_id, cancel).await? {
                    Some(end) => end,
                    None => return Ok(outcome),
                }
            }
            Err(error) => return Err(error),
        };
    }
    Ok(outcome)
}

/// How a run ends that another process goes on with; `None` where it comes to rest there, or the user ends the command.
async fn end_elsewhere(app: &App, run_id: &RunId, cancel: &CancellationToken) -> Result<Option<RunOutcome>> {
    loop {
        let state = app.journal().run_state(run_id).await?;
        match state.as_ref().map(|state| state.status) {
            None | Some(RunStatus::Paused | RunStatus::Sleeping) => return Ok(None),
            Some(RunStatus::Running) => {}
            Some(_) => return Ok(state.as_ref().and_then(recorded_outcome)),
        }
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Ok(None),
            () = tokio::time::sleep(LOOK) => {}
        }
    }
}

/// Whether the run is still paused, with all the questions it paused for.
async fn still_asks(app: &App, run_id: &RunId) -> Result<bool> {
    let Some(run) = app.journal().run_summary(run_id).await? else { return Ok(false) };
    if run.answer_by.is_none() {
        return Ok(false);
    }
    Ok(!app.approvals().open_questions(Some(run_id)).await?.is_empty())
}
