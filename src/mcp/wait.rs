//! Waits for runs and resumes them.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use rmcp::RoleServer;
use rmcp::model::{CallToolResponse, InputResponses, JsonObject};
use rmcp::service::RequestContext;
use serde_json::{Value as Json, json};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use luaplan_app::{ActiveRun, AfterDecision, ApprovalAnswer, CallResolution, ResumeRequest};
use luaplan_base::{Error, ErrorCode, Result, RunId};
use luaplan_bus::Suspension;
use luaplan_engine::RunOutcome;

use super::answer::{done, ended, rested};
use super::arguments::{DenyApproval, ResumeRun};
use super::caller::caller_of;
use super::elicitation::Elicited;
use super::progress::ProgressReporter;
use super::questions::still_asks;
use super::run_tools::wait_of;
use super::server::McpServer;

type Context = RequestContext<RoleServer>;

/// How long a client without a time-out waits for a run of another node.
const ELSEWHERE_MAX: Duration = Duration::from_secs(24 * 60 * 60);

/// The interval of checks whether an ended run has freed its place.
const PLACE_PAUSE: Duration = Duration::from_millis(1);

impl McpServer {
    /// Waits for a run's end. Where it pauses for approval or an answer and the client can ask a person, it is resumed
    /// with what they said. With `ends_run`, a client that disconnects ends the run: for a client that started it, or may
    /// cancel it.
    pub(super) async fn follow(
        &self,
        run_id: &RunId,
        (run, ends_run): (ActiveRun, bool),
        wait: Option<Duration>,
        progress: Option<ProgressReporter>,
        context: &Context,
    ) -> Result<CallToolResponse> {
        let deadline = wait.map(|wait| Instant::now() + wait);
        let answer = self.followed(run_id, (run, ends_run), deadline, progress.as_ref(), context).await;
        if let Some(progress) = progress {
            progress.finish().await;
        }
        answer
    }

    async fn followed(
        &self,
        run_id: &RunId,
        (mut run, ends_run): (ActiveRun, bool),
        deadline: Option<Instant>,
        progress: Option<&ProgressReporter>,
        context: &Context,
    ) -> Result<CallToolResponse> {
        loop {
            let wait = deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()));
            let Some(outcome) = until_ended(run_id, (run, ends_run), wait, &context.ct).await? else {
                return Ok(still_running(run_id));
            };
            let wake_at = outcome.wake_at();
            let (answer, asks) = match deadline {
                Some(deadline) if wake_at.is_some_and(|wake_at| wake_at < self.at(deadline)) => {
                    let Some(report) = self.slept_out((run_id, ends_run), deadline, &context.ct).await?
                    else {
                        return Ok(still_running(run_id));
                    };
                    let asks = ["approvals", "questions"].iter().any(|kind| {
                        report["paused"][*kind].as_array().is_some_and(|asked| !asked.is_empty())
                    });
                    (rested(report), asks)
                }
                _ => {
                    let asks = outcome.suspension().is_some_and(Suspension::waits_for_decision);
                    (ended(&outcome), asks)
                }
            };
            if !asks {
                return Ok(answer.into());
            }
            let asked = match deadline {
                None => self.ask(run_id, context).await?,
                Some(deadline) => match tokio::time::timeout_at(deadline, self.ask(run_id, context)).await {
                    Ok(asked) => asked?,
                    Err(_) => Elicited::Nothing,
                },
            };
            match asked {
                Elicited::Nothing => return Ok(answer.into()),
                Elicited::ByAnswer(question) => return Ok((*question).into()),
                Elicited::Decided => {
                    run = self.resume_or_join(run_id, ResumeReason::Decided, progress, context).await?;
                }
            }
        }
    }

    /// Waits for a run of another node, by its journal.
    pub(super) async fn follow_elsewhere(
        &self,
        run_id: &RunId,
        wait: Option<Duration>,
        context: &Context,
    ) -> Result<CallToolResponse> {
        let deadline = Instant::now() + wait.unwrap_or(ELSEWHERE_MAX);
        let report = self.slept_out((run_id, true), deadline, &context.ct).await?;
        Ok(report.map_or_else(|| still_running(run_id), |report| rested(report).into()))
    }

    /// Waits for a sleeping run that wakes before `deadline` until it ends or is suspended again; `None` where that
    /// takes longer. With `ends_run`, a cancelled request ends its run.
    async fn slept_out(
        &self,
        (run_id, ends_run): (&RunId, bool),
        deadline: Instant,
        cancelled: &CancellationToken,
    ) -> Result<Option<Json>> {
        tokio::select! {
            biased;
            () = cancelled.cancelled() => {
                if !ends_run {
                    return Ok(None);
                }
                self.runs().cancel(run_id, None).await?; // judged: the client's own request began or resumed it
                self.runs().report(run_id).await.map(Some) // judged as above
            }
            report = self.runs().report_at_rest(run_id, self.at(deadline)) => Ok(Some(report)),
            () = tokio::time::sleep_until(deadline) => Ok(None),
        }
    }

    /// The deadline by the clock of wake times.
    fn at(&self, deadline: Instant) -> Timestamp {
        self.app().history().after(deadline.saturating_duration_since(Instant::now()))
    }

    /// Resumes a run, or joins a resume that is already running.
    pub(super) async fn resume_or_join(
        &self,
        run_id: &RunId,
        why: ResumeReason,
        progress: Option<&ProgressReporter>,
        context: &Context,
    ) -> Result<ActiveRun> {
        // The outcome arrives a moment before the run's place is free.
        while self.runs().registry().active(run_id).is_some_and(|run| run.is_over()) {
            tokio::time::sleep(PLACE_PAUSE).await;
        }
        let request = ResumeRequest {
            listeners: progress.iter().map(|progress| progress.listener()).collect(),
            ..ResumeRequest::new(run_id.clone(), CancellationToken::new())
        };
        let caller = caller_of(context);
        let access = self.runs().access(&caller);
        let (resumed, says_something) = match why {
            ResumeReason::Decided => (access.resume_decided(request).await, false),
            ResumeReason::Requested(resolutions) => {
                let says_something = !resolutions.is_empty();
                (access.resume(ResumeRequest { resolutions, ..request }).await, says_something)
            }
        };
        match resumed {
            // A request that joins must not resolve calls: its resolutions would be lost.
            Err(error) if error.code() == ErrorCode::RunActive && !says_something => {
                self.runs().registry().active(run_id).ok_or(error)
            }
            resumed => resumed,
        }
    }

    pub(super) async fn resume_run(&self, args: ResumeRun, context: &Context) -> Result<CallToolResponse> {
        let ResumeRun { run_id, resolve, wait } = args;
        let (run_id, wait): (RunId, _) = (run_id.parse()?, wait_of(wait.as_deref())?);
        let resolutions = resolve
            .into_iter()
            .map(|(call, said)| CallResolution::said(call, said.retry, said.done, said.failed))
            .collect::<Result<Vec<_>>>()?;
        let caller = caller_of(context);
        let access = self.runs().access(&caller);
        access.may_be_said_by_others(&run_id, &resolutions).await?;
        // With resolutions the run resumes at once, and asks when it reaches a call that needs approval.
        let waits = resolutions.is_empty() && access.waits_for_person(&run_id).await?;
        let asks = resolutions.is_empty() && access.waits_for_answer(&run_id).await?;
        if waits || asks {
            match self.ask(&run_id, context).await? {
                Elicited::Decided => {}
                Elicited::ByAnswer(question) => return Ok((*question).into()),
                Elicited::Nothing if waits => return Err(still_waits(&run_id)),
                Elicited::Nothing => return Err(still_asks(&run_id)),
            }
        }
        let progress = ProgressReporter::asked_for(context);
        let run = self
            .resume_or_join(&run_id, ResumeReason::Requested(resolutions), progress.as_ref(), context)
            .await?;
        self.follow(&run_id, (run, true), wait, progress, context).await
    }

    pub(super) async fn deny_approval(
        &self,
        args: DenyApproval,
        context: &Context,
    ) -> Result<CallToolResponse> {
        let wait = wait_of(args.wait.as_deref())?;
        let caller = caller_of(context);
        let access = self.runs().access(&caller);
        let approval = access
            .decide(&args.approval_id, ApprovalAnswer::Deny(args.reason), AfterDecision::GoesOn)
            .await?;
        let run_id: RunId = approval.approval_id.split(':').next().unwrap_or_default().parse()?;
        if access.waits_for_person(&run_id).await? {
            return Ok(done(access.report_of_acted_on(&run_id).await?).into());
        }
        let progress = ProgressReporter::asked_for(context);
        let run = self.resume_or_join(&run_id, ResumeReason::Decided, progress.as_ref(), context).await?;
        self.follow(&run_id, (run, access.may_cancel(&run_id).await), wait, progress, context).await
    }

    /// A repeated call: resumes its run with a person's answers. The run's id comes from the client, so this
    /// allows no more than `resume_run` does.
    pub(super) async fn answered(
        &self,
        state: &str,
        answers: &InputResponses,
        arguments: &JsonObject,
        context: &Context,
    ) -> Result<CallToolResponse> {
        let run_id: RunId = state.parse()?;
        let wait = wait_of(arguments.get("wait").and_then(Json::as_str))?;
        if !self.take_answers(&run_id, answers, context).await? {
            let asks = self.runs().access(&caller_of(context)).waits_for_answer(&run_id).await?;
            return Err(if asks { still_asks(&run_id) } else { still_waits(&run_id) });
        }
        let progress = ProgressReporter::asked_for(context);
        let run = self.resume_or_join(&run_id, ResumeReason::Decided, progress.as_ref(), context).await?;
        let ends_run = self.runs().access(&caller_of(context)).may_cancel(&run_id).await;
        self.follow(&run_id, (run, ends_run), wait, progress, context).await
    }
}

/// Why a run is resumed.
pub(super) enum ResumeReason {
    /// A decision about a call that it waited for.
    Decided,
    /// The client's request, with these resolutions of calls in doubt.
    Requested(Vec<CallResolution>),
}

fn still_running(run_id: &RunId) -> CallToolResponse {
    done(json!({ "run_id": run_id, "status": "running" })).into()
}

fn still_waits(run_id: &RunId) -> Error {
    Error::new(ErrorCode::ApprovalRequired, "a call of this run waits for a person, and nobody decided here")
        .with_help("an approver decides, at the terminal or over HTTP; then call `resume_run`")
        .with_detail("run_id", run_id.as_str())
}

/// What ended a client's wait.
enum WaitEnd {
    Ended,
    Cancelled,
    Longest,
}

/// Waits for the end of a run; `None` where it runs longer than the client waits. With `ends_run`, a request that is
/// cancelled, or whose connection is gone, ends the run; the end of the wait leaves it running.
pub(super) async fn until_ended(
    run_id: &RunId,
    (mut run, ends_run): (ActiveRun, bool),
    wait: Option<Duration>,
    cancelled: &CancellationToken,
) -> Result<Option<Arc<RunOutcome>>> {
    let gone = ends_run.then(|| run.cancel.clone().drop_guard());
    let longest = async {
        match wait {
            Some(wait) => tokio::time::sleep(wait).await,
            None => std::future::pending().await,
        }
    };
    let then = tokio::select! {
        biased;
        _ = run.outcome.wait_for(Option::is_some) => WaitEnd::Ended,
        () = cancelled.cancelled() => WaitEnd::Cancelled,
        () = longest => WaitEnd::Longest,
    };
    match then {
        // It may be suspended, and must not be ended then.
        WaitEnd::Ended => drop(gone.map(DropGuard::disarm)),
        WaitEnd::Cancelled if !ends_run => return Ok(None),
        WaitEnd::Cancelled => {
            run.cancel.cancel();
            // An error means that the run's task failed, which is reported below.
            let _ = run.outcome.wait_for(Option::is_some).await;
        }
        WaitEnd::Longest => {
            drop(gone.map(DropGuard::disarm));
            return Ok(None);
        }
    }
    let outcome = run.outcome.borrow().clone();
    outcome.map(Some).ok_or_else(|| {
        Error::new(ErrorCode::Internal, "the run broke off").with_detail("run_id", run_id.as_str())
    })
}
