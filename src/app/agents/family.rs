//! Runs of agents: started, resumed and ended together with the runs that called them.

use tokio_util::sync::CancellationToken;

use luaplan_base::{LimitName, Result, RunId, Usage};
use luaplan_bus::RunBudget;
use luaplan_engine::RunOutcome;
use luaplan_journal::{
    Actor, Durability, EventBody, JournalRead as _, RunFilter, RunLog, RunState, RunStatus,
};

use super::kin::{child_of, open_children};
use super::{AgentRun, CALL_AGENT};
use crate::history::History;
use crate::ownership::hold::Hold;
use crate::runs::service::Runs;
use crate::runs::spec::{ResumeRequest, RunSpec};
use crate::runs::start::ClaimedRun;

/// Counts what a run of an agent used against its caller, where that was not counted as it was used.
pub(super) async fn spent_by(history: &History, child: &RunId, budget: &RunBudget) -> Result<()> {
    let Some(usage) = history.journal.run_summary(child).await?.and_then(|run| run.usage) else {
        return Ok(());
    };
    budget.read_from_cache(usage.llm_cached_tokens);
    let spent = [
        (LimitName::ToolCalls, usage.tool_calls),
        (LimitName::ResultBytes, usage.result_bytes),
        (LimitName::LlmTokens, usage.llm_tokens),
        (LimitName::LlmCost, usage.llm_cost_micro_usd),
    ];
    spent.into_iter().try_for_each(|(name, amount)| budget.spend(name, amount))
}

impl Runs {
    /// Starts the run of an agent and executes it.
    pub(super) async fn start_as_agent(&self, spec: RunSpec, agent: AgentRun) -> Result<RunOutcome> {
        let run_id = spec.run_id.clone();
        Ok(match self.start(spec, Some(agent), Durability::Ordered).await {
            Ok(started) => self.execute(started).await,
            Err(error) => RunOutcome::of_nothing(run_id, error),
        })
    }

    /// Starts a run of an agent again that was broken off before its plan was on record.
    pub(super) async fn start_again_as_agent(
        &self,
        spec: RunSpec,
        agent: AgentRun,
        state: RunState,
    ) -> Result<RunOutcome> {
        let hold = self.ownership.hold(&spec.run_id).await?;
        let log = self.ownership.log_under(&hold, &spec.run_id, &[]);
        if let Err(error) = self.may_resume(&state) {
            hold.give_back(&error).await;
            return Err(error);
        }
        let resumed = EventBody::RunResumed {
            owner: Some(self.ownership.owner_name().await?),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            calls_recorded: 0,
            by: None,
            os_user: None,
        };
        log.emit(resumed, Durability::Forced).await?;
        self.registry.files().take_back(&spec.run_id);
        self.registry.insert(&log, &spec.cancel, Some(agent.parent_run_id.clone()));
        drop(hold);
        Ok(self.execute(ClaimedRun { spec, log, resumed: Some(state), agent: Some(agent) }).await)
    }

    /// Resumes the run of an agent.
    pub(super) async fn resume_as_agent(
        &self,
        run_id: RunId,
        agent: AgentRun,
        cancel: CancellationToken,
    ) -> Result<RunOutcome> {
        let claimed = self.claim_own(ResumeRequest::new(run_id, cancel)).await?;
        Ok(self.execute(ClaimedRun { agent: Some(agent), ..claimed }).await)
    }

    /// Counts what the finished runs of agents used against a run that is resumed.
    pub(crate) async fn spend_for_children(&self, state: &RunState, budget: &RunBudget) -> Result<()> {
        for call in state.calls.iter().filter(|call| call.tool == CALL_AGENT && !call.is_open()) {
            spent_by(&self.history, &child_of(&state.run_id, &call.call_id), budget).await?;
        }
        Ok(())
    }

    /// Turns a request to resume the run of an agent into one for the run it belongs to, which resumes it.
    /// What is said about calls in doubt is recorded on the way.
    ///
    /// # Errors
    /// As [`Runs::resume`].
    pub(crate) async fn toward_root(&self, request: ResumeRequest) -> Result<ResumeRequest> {
        let root = self.history.root_of(&request.run_id).await?;
        if root == request.run_id {
            return Ok(request);
        }
        self.resolve(&request.run_id, &request.resolutions, request.by.as_ref()).await?;
        Ok(ResumeRequest { run_id: root, resolutions: Vec::new(), ..request })
    }

    /// Ends the runs of agents whose caller has ended without them: its process died between the two.
    ///
    /// # Errors
    /// As reading and writing the journal.
    pub async fn end_orphans(&self) -> Result<()> {
        for status in [RunStatus::Running, RunStatus::Sleeping, RunStatus::Paused] {
            let filter = RunFilter { status: Some(status), ..RunFilter::default() };
            for run in self.history.journal.runs(filter).await? {
                let Some(parent) = &run.parent else { continue };
                let caller = self.history.journal.run_summary(&parent.run_id).await?;
                let has_ended =
                    caller.is_some_and(|caller| caller.ended_at.is_some() && !caller.was_interrupted());
                let state = self.history.known_run(&run.run_id).await?;
                if has_ended && !self.ownership.is_under_way(&state) {
                    let log = self.ownership.new_log(&state.run_id, &[]).await?;
                    self.record_cancelled(&log, &state, "the run that called it has ended", None).await?;
                }
            }
        }
        Ok(())
    }

    /// What a run that is not executed used so far, as far as its records say: models, and calls, with those of its
    /// agents' runs that have ended.
    ///
    /// # Errors
    /// As reading the journal.
    pub(crate) async fn used_so_far(&self, state: &RunState) -> Result<Usage> {
        let mut used = Usage {
            tool_calls: state.calls.len() as u64,
            llm_tokens: state.llm_tokens,
            llm_cached_tokens: state.llm_cached_tokens,
            llm_cost_micro_usd: state.llm_cost_micro_usd,
            ..Usage::default()
        };
        for call in state.calls.iter().filter(|call| call.tool == CALL_AGENT) {
            let child = self.history.journal.run_summary(&child_of(&state.run_id, &call.call_id)).await?;
            let Some(of_child) = child.and_then(|run| run.usage) else { continue };
            used.tool_calls += of_child.tool_calls;
            used.llm_tokens += of_child.llm_tokens;
            used.llm_cached_tokens += of_child.llm_cached_tokens;
            used.llm_cost_micro_usd += of_child.llm_cost_micro_usd;
        }
        Ok(used)
    }

    async fn record_cancelled(
        &self,
        log: &RunLog,
        state: &RunState,
        reason: &str,
        by: Option<&Actor>,
    ) -> Result<()> {
        let usage = self.used_so_far(state).await?;
        let (by, os_user) = Actor::fields(by);
        let ended = EventBody::RunCancelled { reason: reason.to_owned(), usage, by, os_user };
        log.emit(ended, Durability::Forced).await
    }

    /// Ends a run that waits and is held, and the runs of agents it waits for, the innermost first.
    pub(crate) async fn cancel_family(
        &self,
        hold: &Hold,
        state: &RunState,
        by: Option<&Actor>,
    ) -> Result<()> {
        let (mut open, mut found) = (vec![state.clone()], Vec::new());
        while let Some(state) = open.pop() {
            for child in open_children(&state) {
                open.extend(
                    self.history.journal.run_state(&child).await?.filter(|child| child.ended_at.is_none()),
                );
            }
            found.push(state);
        }
        for one in found.iter().rev() {
            let log = if one.run_id == state.run_id {
                self.ownership.log_under(hold, &one.run_id, &[])
            } else {
                self.ownership.new_log(&one.run_id, &[]).await?
            };
            self.record_cancelled(&log, one, "the run was cancelled", by).await?;
        }
        Ok(())
    }
}
