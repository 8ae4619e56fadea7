//! The bus of one run: every call, in one fixed order of steps.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use luaplan_base::{CallId, CallOutcome, CallRequest, Error, ErrorCode, LimitName, Result, ToolFailure};
use luaplan_journal::RunLog;

use super::call::{Admitted, Prepared, Readiness};
use super::{
    Approvals, CallHandler, Interruption, Limiter, Permit, Policy, Progress, Registry, RunBudget, RunGate,
    Suspension,
};

/// What a [`Bus`] is made of.
#[derive(Clone)]
pub struct BusParts {
    /// The tools.
    pub registry: Arc<Registry>,
    /// The rates, shared by all runs.
    pub limiter: Arc<Limiter>,
    /// What this run may do.
    pub policy: Policy,
    /// What people said about its calls.
    pub approvals: Approvals,
    /// When calls that put the run to sleep before are to wake it.
    pub wakes: HashMap<CallId, Timestamp>,
    /// The run's log.
    pub log: RunLog,
    /// What this run may use.
    pub budget: Arc<RunBudget>,
    /// Cancelled when the run is.
    pub cancellation: CancellationToken,
    /// When the run's wall time is used up, its sleeps left aside: calls wait for their turns no longer.
    pub deadline: Instant,
    /// The largest single result, as [`luaplan_base::Value::approximate_bytes`] measures it.
    pub result_bytes_max: u64,
}

/// Answers the calls of one run.
///
/// For each call, in this order: the budget of calls; the tool by name; its arguments; policy, and a
/// person's leave where that asks for one; rate; the intent in the journal; the tool, under its
/// timeout; the size of its result; the outcome in the journal. A tool that changes the world is
/// reached only when the intent is on the disk; that of a read is handed to the journal and not
/// waited for.
pub struct Bus {
    pub(super) parts: BusParts,
    pub(super) run_gate: RunGate,
}

impl Bus {
    /// The bus of a run that starts now.
    #[must_use]
    pub fn new(parts: BusParts) -> Self {
        let run_gate = parts.limiter.run_gate();
        Self { parts, run_gate }
    }

    /// Waits for the call's turn.
    async fn permit(&self, prepared: &Prepared) -> std::result::Result<Permit, ToolFailure> {
        let parts = &self.parts;
        let run_ends = parts.deadline + parts.budget.idle().total();
        let permit = parts
            .limiter
            .acquire(&self.run_gate, prepared.tool.spec(), &prepared.arguments, run_ends)
            .await?;
        parts.budget.waited(permit.waited);
        Ok(permit)
    }

    pub(super) fn cancelled() -> Error {
        Error::new(ErrorCode::Cancelled, "the run was cancelled while calls were under way")
    }
}

#[async_trait]
impl CallHandler for Bus {
    /// Intents are journaled in the order of `calls`, the tools run at the same time, outcomes are
    /// journaled as they come. A batch never takes more of a tool's slots than the tool has; its
    /// further calls wait for the batch's own, without a bound.
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        self.parts.budget.spend(LimitName::ToolCalls, calls.len() as u64)?;
        let cut = self.parts.cancellation.child_token();
        let mut batch = Batch {
            bus: self,
            cut: cut.clone(),
            outcomes: vec![None; calls.len()],
            in_flight: HashMap::new(),
            asked: Vec::new(),
            rests: Vec::new(),
            running: FuturesUnordered::new(),
        };
        match batch.dispatch(calls).await {
            Ok(()) => {
                // A tool that spends can only fail its call; ending the run is decided here.
                let outcomes = batch.outcomes.into_iter().flatten().collect();
                self.parts.budget.exceeded().map_or(Ok(outcomes), |exceeded| Err(exceeded.into()))
            }
            Err(interruption) => {
                // The rest is told to stop and journals that it was cut.
                cut.cancel();
                while batch.running.next().await.is_some() {}
                Err(interruption)
            }
        }
    }
}

/// A call that has come to its end, or to rest: its place in the batch, its tool, how far it came.
type Done = Result<(usize, String, Progress)>;

struct Batch<'a> {
    bus: &'a Bus,
    cut: CancellationToken,
    outcomes: Vec<Option<CallOutcome>>,
    in_flight: HashMap<String, u32>,
    /// Requests for a person's leave: they are asked together, once the other calls are done.
    asked: Vec<String>,
    /// Why calls that were begun wait.
    rests: Vec<Suspension>,
    running: FuturesUnordered<futures::future::BoxFuture<'a, Done>>,
}

impl<'a> Batch<'a> {
    async fn dispatch(&mut self, calls: Vec<CallRequest>) -> Result<(), Interruption> {
        for (index, call) in calls.into_iter().enumerate() {
            if self.cut.is_cancelled() {
                return Err(Bus::cancelled().into());
            }
            let bus = self.bus;
            let admitted = match self.alongside(bus.ready(&call)).await?? {
                Readiness::Ready(prepared) => self.admit(&call, prepared).await?,
                Readiness::Refused(failure) => Err(failure),
                Readiness::Asks { approval_id, request } => {
                    if let Some(request) = request {
                        self.alongside(bus.ask(*request)).await??;
                    }
                    self.asked.push(approval_id);
                    continue;
                }
            };
            match admitted {
                Ok(admitted) => {
                    *self.in_flight.entry(call.tool.clone()).or_default() += 1;
                    let cut = self.cut.clone();
                    self.running.push(Box::pin(async move {
                        let progress = bus.make(admitted, &cut).await?;
                        Ok((index, call.tool, progress))
                    }));
                }
                Err(failure) => {
                    let failure = bus.parts.log.redactor().failure(failure);
                    self.alongside(bus.refuse(&call, &failure)).await??;
                    self.outcomes[index] = Some(Err(failure));
                }
            }
        }
        while let Some(done) = self.running.next().await {
            self.settle(done)?;
        }
        // A limit that was hit meanwhile ends the run; there is nothing left to ask about.
        let suspension = Suspension::of_batch(&self.asked, std::mem::take(&mut self.rests));
        match (suspension, self.bus.parts.budget.exceeded()) {
            (None, _) => Ok(()),
            (Some(_), Some(exceeded)) => Err(exceeded.into()),
            (Some(suspension), None) => Err(suspension.into()),
        }
    }

    /// Waits for leave to make the call and journals its intent; calls under way go on meanwhile.
    async fn admit(
        &mut self,
        call: &CallRequest,
        prepared: Prepared,
    ) -> Result<std::result::Result<Admitted, ToolFailure>> {
        let at_once = prepared.tool.spec().concurrency.max(1);
        while self.in_flight.get(&call.tool).is_some_and(|count| *count >= at_once) {
            match self.running.next().await {
                Some(done) => self.settle(done)?,
                None => break,
            }
        }
        let (bus, cut) = (self.bus, self.cut.clone());
        let admit = async {
            tokio::select! {
                biased;
                () = cut.cancelled() => Err(Bus::cancelled()),
                permit = bus.permit(&prepared) => Ok(permit),
            }
        };
        match self.alongside(admit).await?? {
            Ok(permit) => self.alongside(bus.intend(call, prepared, permit)).await?.map(Ok),
            Err(failure) => Ok(Err(failure)),
        }
    }

    /// Waits for `step` while the calls under way go on.
    async fn alongside<T>(&mut self, step: impl Future<Output = T>) -> Result<T> {
        tokio::pin!(step);
        loop {
            tokio::select! {
                biased;
                Some(done) = self.running.next(), if !self.running.is_empty() => self.settle(done)?,
                output = &mut step => return Ok(output),
            }
        }
    }

    fn settle(&mut self, done: Done) -> Result<()> {
        let (index, tool, progress) = done?;
        if let Some(count) = self.in_flight.get_mut(&tool) {
            *count = count.saturating_sub(1);
        }
        match progress {
            Progress::Ended(outcome) => self.outcomes[index] = Some(outcome),
            Progress::Suspended(suspension) => self.rests.push(suspension),
        }
        Ok(())
    }
}
