//! Asks the model while writing down what happens.

use std::pin::pin;

use tokio::sync::mpsc;

use crate::base::{Result, SpanId};
use crate::journal::{Durability, EventBody, RunLog};
use crate::llm::{ChatReply, ChatRequest, LlmClient, LlmProgress};

/// The model's answer. Everything on the way is in the run's log, in order, before this returns.
///
/// # Errors
/// The client's, or the journal's where an event cannot be kept.
pub async fn ask_model(client: &dyn LlmClient, request: &ChatRequest, log: &RunLog) -> Result<ChatReply> {
    let span = log.new_span();
    let (sender, mut events) = mpsc::unbounded_channel();
    let progress = move |event: LlmProgress| {
        // The receiver lives as long as this function; a late event has nobody left to tell.
        let _ = sender.send(event);
    };
    let reply = {
        let mut asking = pin!(client.chat(request, &progress));
        loop {
            tokio::select! {
                biased;
                Some(event) = events.recv() => keep(log, &span, request, event).await?,
                reply = &mut asking => break reply,
            }
        }
    };
    while let Ok(event) = events.try_recv() {
        keep(log, &span, request, event).await?;
    }
    let reply = reply?;
    let received = EventBody::LlmResponseReceived {
        provider: reply.provider.clone(),
        model: reply.model.clone(),
        text: reply.text.clone(),
        input_tokens: reply.usage.input_tokens,
        output_tokens: reply.usage.output_tokens,
        cost_micro_usd: reply.usage.cost_micro_usd,
        duration_ms: u64::try_from(reply.duration.as_millis()).unwrap_or(u64::MAX),
        recorded: reply.recorded,
    };
    log.emit_in(span, received, Durability::Ordered).await?;
    Ok(reply)
}

async fn keep(log: &RunLog, span: &SpanId, request: &ChatRequest, event: LlmProgress) -> Result<()> {
    let body = match event {
        LlmProgress::RequestSent { provider, model, attempt } => {
            EventBody::LlmRequestSent { provider, model, purpose: request.purpose.clone(), attempt }
        }
        LlmProgress::Text(text) => EventBody::LlmText { text },
        LlmProgress::RetryScheduled { attempt, wait, code, message } => EventBody::LlmRetryScheduled {
            attempt,
            wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            code,
            message,
        },
        LlmProgress::RequestFailed { provider, model, code, message } => {
            EventBody::LlmRequestFailed { provider, model, code, message }
        }
        LlmProgress::Fallback { from, to, code } => EventBody::ModelFallback { from, to, code },
    };
    log.emit_in(span.clone(), body, Durability::Ordered).await
}
