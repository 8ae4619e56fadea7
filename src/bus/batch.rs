//! The calls of one batch: counted against the budget and admitted in order, made concurrently, suspended together. The
//! sequence of the steps in `call.rs` is fixed here.

use std::collections::HashMap;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use tokio_util::sync::CancellationToken;

use luaplan_base::{CallOutcome, CallRequest, LimitName, Result, ToolFailure};

use super::call::{Admitted, PreparedCall, Readiness};
use super::{Bus, CallHandler, Interruption, Progress, Suspension};

#[async_trait]
impl CallHandler for Bus {
    /// Intents are journaled in the order of `calls`, the tools run concurrently, outcomes are
    /// journaled as they arrive. A batch never takes more of a tool's slots than the tool has; its
    /// further calls wait for the batch's own, without a bound.
    async fn answer(&self, calls: Vec<CallRequest>) -> Result<Vec<CallOutcome>, Interruption> {
        self.parts.budget.spend(LimitName::ToolCalls, calls.len() as u64)?;
        let cut = self.parts.cancellation.child_token();
        let mut batch = CallBatch {
            bus: self,
            cut: cut.clone(),
            outcomes: vec![None; calls.len()],
            in_flight: HashMap::new(),
            asked: Vec::new(),
            suspended: Vec::new(),
            running: FuturesUnordered::new(),
        };
        match batch.dispatch(calls).await {
            Ok(()) => {
                // A tool that exceeds a budget can only fail its call; the bus ends the run.
                let outcomes = batch.outcomes.into_iter().flatten().collect();
                self.parts.budget.exceeded().map_or(Ok(outcomes), |exceeded| Err(exceeded.into()))
            }
            Err(interruption) => {
                // The other calls are cancelled, and journal that they were cut off.
                cut.cancel();
                while batch.running.next().await.is_some() {}
                Err(interruption)
            }
        }
    }
}

/// A finished or suspended call: its index in the batch, its tool, its progress.
type Done = Result<(usize, String, Progress)>;

struct CallBatch<'a> {
    bus: &'a Bus,
    cut: CancellationToken,
    outcomes: Vec<Option<CallOutcome>>,
    in_flight: HashMap<String, u32>,
    /// Requests for approval, recorded together once the other calls are done.
    asked: Vec<String>,
    /// Why started calls are suspended.
    suspended: Vec<Suspension>,
    running: FuturesUnordered<futures::future::BoxFuture<'a, Done>>,
}

impl<'a> CallBatch<'a> {
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
        // A limit that was hit meanwhile ends the run, so no approval is needed.
        let suspension = Suspension::of_batch(&self.asked, std::mem::take(&mut self.suspended));
        match (suspension, self.bus.parts.budget.exceeded()) {
            (None, _) => Ok(()),
            (Some(_), Some(exceeded)) => Err(exceeded.into()),
            (Some(suspension), None) => Err(suspension.into()),
        }
    }

    /// Waits for a turn of the call and journals its intent, while running calls continue.
    async fn admit(
        &mut self,
        call: &CallRequest,
        prepared: PreparedCall,
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

    /// Waits for `step` while running calls continue.
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
            Progress::Suspended(suspension) => self.suspended.push(suspension),
        }
        Ok(())
    }
}
