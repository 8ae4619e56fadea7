//! The plan's arguments as a request to a model.

use std::borrow::Cow;

use serde_json::Value as Json;

use luaplan_base::{ErrorCode, RequestPurpose, Result, ToolFailure, Value};
use luaplan_catalog::check_schema;
use luaplan_llm::{ChatMessage, ChatRequest, ChatRole, marked_data};

use super::structured;

const OUTPUT_TOKENS_DEFAULT: u32 = 1_024;
const OUTPUT_TOKENS_MAX: u32 = 32_768;
/// Average bytes of a token; the real count comes with the answer.
const TOKEN_BYTES: u64 = 4;

/// The form of the answer.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum AnswerForm {
    Text,
    /// Text that is one JSON document.
    Json,
    /// A value that follows this JSON Schema.
    Schema(Json),
}

/// The arguments, read.
pub(super) struct LlmArguments<'a> {
    prompt: &'a str,
    data: Option<Cow<'a, str>>,
    pub(super) model: Option<&'a str>,
    pub(super) output_tokens_max: u32,
    pub(super) form: AnswerForm,
}

impl<'a> LlmArguments<'a> {
    pub(super) fn read(arguments: &'a Value) -> Result<Self, ToolFailure> {
        let prompt = match arguments.get("prompt").and_then(Value::as_str) {
            Some(prompt) if !prompt.trim().is_empty() => prompt,
            _ => return Err(refused("`prompt` must be text that is not empty")),
        };
        let output_tokens_max = match arguments.get("max_tokens") {
            None | Some(Value::Null) => OUTPUT_TOKENS_DEFAULT,
            Some(Value::Integer(tokens)) => u32::try_from(*tokens)
                .ok()
                .filter(|tokens| (1..=OUTPUT_TOKENS_MAX).contains(tokens))
                .ok_or_else(|| refused(&format!("`max_tokens` is {tokens}, not 1 to {OUTPUT_TOKENS_MAX}")))?,
            Some(other) => {
                return Err(refused(&format!("`max_tokens` must be an integer, not {}", other.kind())));
            }
        };
        let model = match arguments.get("model") {
            None | Some(Value::Null) => None,
            Some(Value::String(name)) => Some(name.as_str()),
            Some(other) => return Err(refused(&format!("`model` must be text, not {}", other.kind()))),
        };
        let data = match arguments.get("data") {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(Cow::Borrowed(text.as_str())),
            Some(other) => Some(Cow::Owned(other.to_json_text())),
        };
        Ok(Self { prompt, data, model, output_tokens_max, form: form(arguments)? })
    }

    /// Roughly how many tokens the request has.
    pub(super) fn prompt_tokens(&self) -> u64 {
        let bytes: usize = self.messages().iter().map(|message| message.text.len()).sum();
        (bytes as u64).div_ceil(TOKEN_BYTES)
    }

    pub(super) fn request(&self, output_tokens_max: u32) -> ChatRequest {
        let reply_schema = match &self.form {
            AnswerForm::Schema(schema) => structured::for_provider(schema),
            AnswerForm::Text | AnswerForm::Json => None,
        };
        ChatRequest {
            purpose: RequestPurpose::CallLlm,
            messages: self.messages(),
            reply_schema,
            output_tokens_max,
            model: self.model.map(str::to_owned),
        }
    }

    fn messages(&self) -> Vec<ChatMessage> {
        const JSON_ALONE: &str = "and nothing else: no explanation, no code fence.";
        let rule = match &self.form {
            AnswerForm::Text => None,
            AnswerForm::Json => Some(format!("Answer with one JSON document {JSON_ALONE}")),
            AnswerForm::Schema(schema) => Some(format!(
                "Answer with one JSON document that follows the JSON Schema below {JSON_ALONE}\n\n{schema}"
            )),
        };
        let rule = rule.map(|rule| ChatMessage::new(ChatRole::System, rule));
        let user = match &self.data {
            None => self.prompt.to_owned(),
            Some(data) => format!("{}\n\n{}", self.prompt, marked_data(data)),
        };
        rule.into_iter().chain([ChatMessage::new(ChatRole::User, user)]).collect()
    }
}

fn form(arguments: &Value) -> Result<AnswerForm, ToolFailure> {
    let is_json = match arguments.get("format") {
        None | Some(Value::Null) => None,
        Some(Value::String(name)) if name == "text" => Some(false),
        Some(Value::String(name)) if name == "json" => Some(true),
        Some(_) => return Err(refused("`format` must be \"text\" or \"json\"")),
    };
    match arguments.get("schema") {
        None | Some(Value::Null) => {
            Ok(if is_json == Some(true) { AnswerForm::Json } else { AnswerForm::Text })
        }
        Some(_) if is_json == Some(false) => Err(refused("`format` is \"text\", and `schema` asks for JSON")),
        Some(schema) => {
            let schema = schema.to_json();
            check_schema(&schema).map_err(|why| refused(&format!("`schema` is not a JSON Schema: {why}")))?;
            Ok(AnswerForm::Schema(schema))
        }
    }
}

fn refused(message: &str) -> ToolFailure {
    ToolFailure::new(ErrorCode::BadArguments, message)
}
