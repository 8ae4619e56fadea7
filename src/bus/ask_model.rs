//! Asks the model and records what happens.

use std::pin::pin;

use futures::future::join_all;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use serde_json::{Value as Json, json};

use luaplan_base::{ContentHash, Error, ErrorCode, Result, SpanId};
use luaplan_journal::{Durability, EventBody, ModelBody, RunLog};
use luaplan_llm::{ChatReply, ChatRequest, LlmClient, LlmProgress};

/// The model's answer. All events of the request are in the run's log, in order, before this returns.
///
/// # Errors
/// The client's, or the journal's where an event cannot be recorded.
pub async fn ask_model(client: &dyn LlmClient, request: &ChatRequest, log: &RunLog) -> Result<ChatReply> {
    let replies = ask_side_by_side(client, &[(request.clone(), log.clone())]).await?;
    replies.into_iter().next().unwrap_or_else(|| Err(unheard()))
}

/// The answers to several concurrent requests, each recorded in its own log.
///
/// Events are recorded in the order of `asks`, whichever answer arrives first: the events of one request
/// follow all events of those before it.
///
/// # Errors
/// The journal's, where an event cannot be recorded. A client's error is in its place of the list.
pub async fn ask_side_by_side(
    client: &dyn LlmClient,
    asks: &[(ChatRequest, RunLog)],
) -> Result<Vec<Result<ChatReply>>> {
    let mut talks = Vec::new();
    let mut heard = Vec::new();
    for (request, _) in asks {
        let (sender, receiver) = unbounded_channel();
        heard.push(receiver);
        talks.push(async move {
            // The receivers live as long as this function, so a late event has no receiver.
            let progress = |event: LlmProgress| drop(sender.send(Heard::OnTheWay(event)));
            let reply = client.chat(request, &progress).await;
            drop(sender.send(Heard::Ended(reply)));
        });
    }
    let writing = async {
        let mut replies = Vec::new();
        for ((request, log), events) in asks.iter().zip(heard) {
            replies.push(write_down(request, log, events).await?);
        }
        Ok(replies)
    };
    let (mut writing, mut talking) = (pin!(writing), pin!(join_all(talks)));
    let mut is_talking = true;
    loop {
        tokio::select! {
            biased;
            replies = &mut writing => return replies,
            _ = &mut talking, if is_talking => is_talking = false,
        }
    }
}

enum Heard {
    OnTheWay(LlmProgress),
    Ended(Result<ChatReply>),
}

async fn write_down(
    request: &ChatRequest,
    log: &RunLog,
    mut events: UnboundedReceiver<Heard>,
) -> Result<Result<ChatReply>> {
    let span = log.new_span();
    // What the model is sent: the application takes secrets out of each request.
    let sent: Vec<String> =
        request.messages.iter().map(|message| log.redactor().text(&message.text)).collect();
    let prompt_hash = ContentHash::of(sent.join("\n").as_bytes());
    if log.wants_model_bodies() {
        log.keep_model_body(&span, ModelBody::Prompt(messages_json(request, &sent))).await;
    }
    // Several pieces of an answer may hold one secret.
    let mut pieces = log.redactor().pieces();
    while let Some(event) = events.recv().await {
        let settled = match &event {
            Heard::OnTheWay(LlmProgress::Text(text)) => pieces.add(text),
            _ => pieces.end(),
        };
        if let Some(text) = settled {
            log.emit_in(span.clone(), EventBody::LlmText { text }, Durability::Ordered).await?;
        }
        let reply = match event {
            Heard::OnTheWay(event) => {
                keep(log, &span, (request, &prompt_hash), event).await?;
                continue;
            }
            Heard::Ended(Err(error)) => return Ok(Err(error)),
            Heard::Ended(Ok(reply)) => reply,
        };
        let text = log.redactor().text(&reply.text);
        let received = EventBody::LlmResponseReceived {
            provider: reply.provider.clone(),
            model: reply.model.clone(),
            text: None,
            text_hash: Some(ContentHash::of(text.as_bytes())),
            text_bytes: Some(text.len() as u64),
            input_tokens: reply.usage.input_tokens,
            cached_tokens: reply.usage.cached_tokens,
            cache_write_tokens: reply.usage.cache_write_tokens,
            output_tokens: reply.usage.output_tokens,
            cost_micro_usd: reply.usage.cost_micro_usd,
            duration_ms: u64::try_from(reply.duration.as_millis()).unwrap_or(u64::MAX),
            recorded: reply.recorded,
        };
        log.keep_model_body(&span, ModelBody::Answer(text)).await;
        log.emit_in(span, received, Durability::Ordered).await?;
        return Ok(Ok(reply));
    }
    Ok(Err(unheard()))
}

fn unheard() -> Error {
    Error::new(ErrorCode::Internal, "a request to a model ended without an answer")
}

fn messages_json(request: &ChatRequest, texts: &[String]) -> Json {
    let messages = request.messages.iter().zip(texts);
    messages.map(|(message, text)| json!({ "role": message.role.as_str(), "text": text })).collect()
}

async fn keep(
    log: &RunLog,
    span: &SpanId,
    (request, prompt_hash): (&ChatRequest, &ContentHash),
    event: LlmProgress,
) -> Result<()> {
    let body = match event {
        LlmProgress::RequestSent { provider, model, attempt } => EventBody::LlmRequestSent {
            provider,
            model,
            purpose: request.purpose.into(),
            attempt,
            prompt_hash: Some(prompt_hash.clone()),
        },
        // Its pieces were already sent.
        LlmProgress::Text(_) => return Ok(()),
        LlmProgress::RetryScheduled { attempt, wait, code, message } => EventBody::LlmRetryScheduled {
            attempt,
            wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
            code: code.into(),
            message,
        },
        LlmProgress::RequestFailed { provider, model, code, message } => {
            EventBody::LlmRequestFailed { provider, model, code: code.into(), message }
        }
        LlmProgress::Fallback { from, to, code } => EventBody::ModelFallback { from, to, code: code.into() },
    };
    log.emit_in(span.clone(), body, Durability::Ordered).await
}
