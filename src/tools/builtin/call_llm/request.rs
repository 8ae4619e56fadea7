//! The plan's arguments as a request to a model.

use luaplan_base::{ErrorCode, RequestPurpose, Result, ToolFailure, Value};
use luaplan_llm::{ChatMessage, ChatRequest, ChatRole};

const OUTPUT_TOKENS_DEFAULT: u32 = 1_024;
const OUTPUT_TOKENS_MAX: u32 = 32_768;
/// Average bytes of a token; the real count comes with the answer.
const TOKEN_BYTES: u64 = 4;

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerFormat {
    Text,
    Json,
}

/// The arguments, read.
pub(super) struct LlmArguments<'a> {
    pub(super) prompt: &'a str,
    pub(super) output_tokens_max: u32,
    pub(super) format: AnswerFormat,
}

impl<'a> LlmArguments<'a> {
    pub(super) fn read(arguments: &'a Value) -> Result<Self, ToolFailure> {
        let refuse = |message: &str| ToolFailure::new(ErrorCode::BadArguments, message);
        let prompt = match arguments.get("prompt").and_then(Value::as_str) {
            Some(prompt) if !prompt.trim().is_empty() => prompt,
            _ => return Err(refuse("`prompt` must be text that is not empty")),
        };
        let output_tokens_max = match arguments.get("max_tokens") {
            None | Some(Value::Null) => OUTPUT_TOKENS_DEFAULT,
            Some(Value::Integer(tokens)) => u32::try_from(*tokens)
                .ok()
                .filter(|tokens| (1..=OUTPUT_TOKENS_MAX).contains(tokens))
                .ok_or_else(|| refuse(&format!("`max_tokens` is {tokens}, not 1 to {OUTPUT_TOKENS_MAX}")))?,
            Some(other) => {
                return Err(refuse(&format!("`max_tokens` must be an integer, not {}", other.kind())));
            }
        };
        let format = match arguments.get("format") {
            None | Some(Value::Null) => AnswerFormat::Text,
            Some(Value::String(name)) if name == "text" => AnswerFormat::Text,
            Some(Value::String(name)) if name == "json" => AnswerFormat::Json,
            Some(_) => return Err(refuse("`format` must be \"text\" or \"json\"")),
        };
        Ok(Self { prompt, output_tokens_max, format })
    }

    /// Roughly how many tokens the prompt has.
    pub(super) fn prompt_tokens(&self) -> u64 {
        (self.prompt.len() as u64).div_ceil(TOKEN_BYTES)
    }

    pub(super) fn request(&self, output_tokens_max: u32) -> ChatRequest {
        let mut messages = Vec::new();
        if self.format == AnswerFormat::Json {
            let rule = "Answer with one JSON document and nothing else: no explanation, no code fence.";
            messages.push(ChatMessage::new(ChatRole::System, rule));
        }
        messages.push(ChatMessage::new(ChatRole::User, self.prompt));
        // No reply schema: providers take only schemas that name every member, and none is known.
        ChatRequest { purpose: RequestPurpose::CallLlm, messages, reply_schema: None, output_tokens_max }
    }
}
