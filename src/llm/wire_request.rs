//! A request as the provider library sends it, with marks where the provider takes them.

use genai::chat::{
    CacheControl, ChatMessage as Sent, ChatRequest as SentRequest, ContentPart, MessageContent,
};
use serde_json::json;

use super::{ChatMessage, ChatRequest, ChatRole, LlmSettings, Provider};

/// The messages in their order, the rules apart where the provider wants them so.
///
/// Anthropic keeps what ends at a mark, and only that. OpenAI and Gemini find the beginning that requests have in
/// common by themselves.
pub(super) fn to_genai(request: &ChatRequest, settings: &LlmSettings) -> SentRequest {
    let marks = settings.prompt_cache && settings.provider == Provider::Anthropic;
    let (system, others): (Vec<&ChatMessage>, Vec<&ChatMessage>) =
        request.messages.iter().partition(|message| message.role == ChatRole::System);
    if marks && system.iter().any(|message| message.stable_bytes > 0) {
        let system = system.into_iter().flat_map(marked_system);
        return SentRequest::new(system.chain(others.into_iter().map(marked)).collect());
    }
    let rules: Vec<&str> = system.iter().map(|message| message.text.as_str()).collect();
    let chat = SentRequest::new(others.into_iter().map(plain).collect());
    if rules.is_empty() { chat } else { chat.with_system(rules.join("\n\n")) }
}

fn plain(message: &ChatMessage) -> Sent {
    match message.role {
        ChatRole::System => Sent::system(message.text.as_str()),
        ChatRole::User => Sent::user(message.text.as_str()),
        ChatRole::Assistant => Sent::assistant(message.text.as_str()),
    }
}

fn marked_system(message: &ChatMessage) -> Vec<Sent> {
    let (stable, rest) = message.parts();
    let mut parts = Vec::new();
    if !stable.is_empty() {
        parts.push(Sent::system(stable).with_options(CacheControl::Ephemeral));
    }
    // The provider refuses empty parts.
    if !rest.trim().is_empty() {
        parts.push(Sent::system(rest));
    }
    parts
}

fn marked(message: &ChatMessage) -> Sent {
    let (stable, rest) = message.parts();
    if message.role != ChatRole::User || stable.is_empty() || rest.trim().is_empty() {
        return plain(message);
    }
    // The library marks the last part of a message alone.
    let kept = json!({"type": "text", "text": stable, "cache_control": {"type": "ephemeral"}});
    Sent::user(MessageContent::from_parts(vec![
        ContentPart::from_custom(kept, None),
        ContentPart::from_text(rest),
    ]))
}
