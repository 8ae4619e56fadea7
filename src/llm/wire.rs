//! Watches raw frames for what the provider library does not pass on.
//!
//! The library drops refusal fields, block reasons and some error frames, and ends some broken
//! streams as if they were whole. The raw frames tell these cases apart.

use std::sync::{Mutex, MutexGuard, PoisonError};

use genai::chat::{ChatFrameSink, FrameCtx, RawFrameRef};
use serde_json::Value as Json;

use super::Provider;

/// The raw frames of one attempt, in summary.
#[derive(Debug, Default)]
pub(super) struct WireSummary {
    /// Frames of any kind.
    pub(super) frames: u64,
    /// Frames that belong to the provider's protocol.
    pub(super) known_frames: u64,
    /// The protocol's end mark.
    pub(super) terminated: bool,
    /// The words of a refusal, or the reason of a block.
    pub(super) refusal: Option<String>,
    /// An error frame inside the stream.
    pub(super) error: Option<Json>,
}

/// Collects [`WireSummary`] for one attempt.
#[derive(Debug)]
pub(super) struct WireWatch {
    provider: Provider,
    seen: Mutex<WireSummary>,
}

impl WireWatch {
    pub(super) fn new(provider: Provider) -> Self {
        Self { provider, seen: Mutex::default() }
    }

    pub(super) fn seen(&self) -> MutexGuard<'_, WireSummary> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Treats a whole body as a single last frame.
    pub(super) fn look_at_body(&self, body: &Json) {
        self.look_at(None, body);
        self.seen().terminated = true;
    }

    fn look_at(&self, event: Option<&str>, frame: &Json) {
        let mut seen = self.seen();
        seen.frames += 1;
        if let Some(error) = frame.get("error").filter(|error| !error.is_null()) {
            seen.error = Some(error.clone());
            seen.known_frames += 1;
            return;
        }
        let known = match self.provider {
            Provider::Anthropic => look_at_anthropic(&mut seen, event, frame),
            Provider::OpenAi => look_at_openai(&mut seen, frame),
            Provider::Gemini => look_at_gemini(&mut seen, frame),
            Provider::Ollama => look_at_ollama(&mut seen, frame),
        };
        seen.known_frames += u64::from(known);
    }
}

impl ChatFrameSink for WireWatch {
    fn on_frame(&self, _ctx: &FrameCtx, frame: RawFrameRef<'_>) {
        if frame.data == "[DONE]" && self.provider == Provider::OpenAi {
            let mut seen = self.seen();
            seen.frames += 1;
            seen.terminated = true;
            return;
        }
        match frame.json() {
            Some(json) => self.look_at(frame.event, &json),
            None => self.seen().frames += 1,
        }
    }
}

fn look_at_anthropic(seen: &mut WireSummary, event: Option<&str>, frame: &Json) -> bool {
    let kind = event.or_else(|| frame.get("type").and_then(Json::as_str)).unwrap_or_default();
    seen.terminated |= kind == "message_stop";
    let stop_reason = frame.pointer("/delta/stop_reason").or_else(|| frame.get("stop_reason"));
    if stop_reason.and_then(Json::as_str) == Some("refusal") {
        seen.refusal = Some("the provider's safety system stopped the answer".to_owned());
    }
    matches!(
        kind,
        "message"
            | "message_start"
            | "message_delta"
            | "message_stop"
            | "content_block_start"
            | "content_block_delta"
            | "content_block_stop"
    )
}

fn look_at_openai(seen: &mut WireSummary, frame: &Json) -> bool {
    let Some(choice) = frame.pointer("/choices/0") else { return false };
    for place in ["/message/refusal", "/delta/refusal"] {
        if let Some(text) = choice.pointer(place).and_then(Json::as_str).filter(|text| !text.is_empty()) {
            seen.refusal.get_or_insert_default().push_str(text);
        }
    }
    if choice.get("finish_reason").and_then(Json::as_str) == Some("content_filter") {
        seen.refusal.get_or_insert_with(|| "the provider's content filter stopped the answer".to_owned());
    }
    choice.get("message").or_else(|| choice.get("delta")).is_some_and(Json::is_object)
}

fn look_at_gemini(seen: &mut WireSummary, frame: &Json) -> bool {
    const BLOCKING: [&str; 6] =
        ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"];
    let blocked = frame.pointer("/promptFeedback/blockReason").and_then(Json::as_str);
    let finish = frame.pointer("/candidates/0/finishReason").and_then(Json::as_str);
    seen.terminated |= finish.is_some() || blocked.is_some();
    if let Some(reason) = blocked.or_else(|| finish.filter(|reason| BLOCKING.contains(reason))) {
        seen.refusal = Some(format!("blocked: {reason}"));
    }
    frame.pointer("/candidates/0").is_some() || blocked.is_some()
}

fn look_at_ollama(seen: &mut WireSummary, frame: &Json) -> bool {
    seen.terminated |= frame.get("done").and_then(Json::as_bool) == Some(true);
    frame.get("message").is_some_and(Json::is_object)
}
