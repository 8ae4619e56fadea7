//! A prompt as a request to a model, recorded before it is sent.

use serde_json::{Value as Json, json};

use luaplan_base::{ContentHash, RequestPurpose, Result};
use luaplan_journal::{Durability, EventBody, RunLog};
use luaplan_llm::{ChatMessage, ChatRequest, ChatRole};

use super::prompt::Prompt;

/// Puts on record how a prompt was fitted and what it is, and gives its messages.
///
/// # Errors
/// The journal's.
pub async fn record_prompt(prompt: &Prompt, log: &RunLog) -> Result<Vec<ChatMessage>> {
    let budget = &prompt.budget;
    let computed = EventBody::PromptBudgetComputed {
        budget_tokens: budget.budget_tokens,
        used_tokens: budget.used_tokens,
        parts: budget.parts.iter().map(|part| (part.name.to_owned(), Json::from(part.tokens))).collect(),
        trimmed: budget.trimmed.clone(),
        tools_left_out: budget.tools_left_out.clone(),
    };
    log.emit(computed, Durability::Ordered).await?;
    let messages = messages(prompt);
    let whole: String = messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>().join("\n");
    let composed = EventBody::PromptComposed {
        prompt_hash: ContentHash::of(whole.as_bytes()),
        bytes: whole.len() as u64,
    };
    log.emit(composed, Durability::Ordered).await?;
    Ok(messages)
}

/// # Errors
/// The journal's.
pub(super) async fn chat_request(
    prompt: &Prompt,
    purpose: RequestPurpose,
    (output_tokens_max, may_ask): (u32, bool),
    log: &RunLog,
) -> Result<ChatRequest> {
    let messages = record_prompt(prompt, log).await?;
    let reply_schema = Some(reply_schema(may_ask));
    Ok(ChatRequest { purpose, messages, reply_schema, output_tokens_max, model: None })
}

fn messages(prompt: &Prompt) -> Vec<ChatMessage> {
    let system = ChatMessage::new(ChatRole::System, prompt.system.as_str());
    let user = ChatMessage::new(ChatRole::User, prompt.user.as_str());
    let mut messages = vec![
        system.with_stable_bytes(prompt.system_stable_bytes),
        user.with_stable_bytes(prompt.user_stable_bytes),
    ];
    for said in &prompt.follows {
        match messages.last_mut() {
            // Two messages of one speaker in a row are one: some providers refuse them.
            Some(last) if last.role == said.role => {
                last.text.push_str("\n\n");
                last.text.push_str(&said.text);
            }
            _ => messages.push(said.clone()),
        }
    }
    messages
}

/// Every member is required, as some providers demand that of each: what does not apply is null.
fn reply_schema(may_ask: bool) -> Json {
    if may_ask {
        return json!({
            "type": "object",
            "properties": {
                "plan": {"type": ["string", "null"], "description": "The whole Lua program; null where you ask."},
                "explanation": {"type": ["string", "null"], "description": "One or two sentences for the user."},
                "question": {"type": ["string", "null"], "description": "What the person must say first; null beside a program."},
                "choices": {"type": ["array", "null"], "items": {"type": "string"}, "description": "The only answers that help, or null."}
            },
            "required": ["plan", "explanation", "question", "choices"],
            "additionalProperties": false
        });
    }
    json!({
        "type": "object",
        "properties": {
            "plan": {"type": "string", "description": "The whole Lua program."},
            "explanation": {"type": "string", "description": "One or two sentences for the user."}
        },
        "required": ["plan", "explanation"],
        "additionalProperties": false
    })
}
