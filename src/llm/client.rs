//! The trait of every model.

use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value as Json;

use luaplan_base::{ErrorCode, RequestPurpose, Result};

/// Who speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChatRole {
    /// The rules.
    System,
    /// The request.
    User,
    /// An earlier answer of the model.
    Assistant,
}

impl ChatRole {
    /// Its name in requests.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChatMessage {
    /// Who speaks.
    pub role: ChatRole,
    /// The text.
    pub text: String,
    /// So many of its first bytes begin other requests as well: a provider may keep what it computed for them.
    pub stable_bytes: usize,
}

impl ChatMessage {
    /// A message of this request alone.
    #[must_use]
    pub fn new(role: ChatRole, text: impl Into<String>) -> Self {
        Self { role, text: text.into(), stable_bytes: 0 }
    }

    /// Says how many of its first bytes begin other requests as well.
    #[must_use]
    pub fn with_stable_bytes(self, stable_bytes: usize) -> Self {
        Self { stable_bytes, ..self }
    }

    /// The part that begins other requests as well, and the rest.
    #[must_use]
    pub fn parts(&self) -> (&str, &str) {
        self.text.split_at_checked(self.stable_bytes).unwrap_or(("", &self.text))
    }
}

/// A request to a model.
#[derive(Debug, Clone)]
pub struct ChatRequest {
    /// Why: `plan`, `repair` or `call_llm`. For the record, not for the model.
    pub purpose: RequestPurpose,
    /// The conversation so far.
    pub messages: Vec<ChatMessage>,
    /// A JSON Schema the answer must follow, where the provider can be held to one.
    pub reply_schema: Option<Json>,
    /// The most tokens the answer may have.
    pub output_tokens_max: u32,
    /// The model to ask, one of [`LlmClient::model_names`]. Absent: the first choice.
    pub model: Option<String>,
}

/// Tokens of one exchange.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenUsage {
    /// Sent, cached ones included.
    pub input_tokens: u64,
    /// Of those sent, the ones that the provider read from its cache.
    pub cached_tokens: u64,
    /// Of those sent, the ones that the provider wrote to its cache.
    pub cache_write_tokens: u64,
    /// Received.
    pub output_tokens: u64,
    /// What it cost, in millionths of a US dollar; 0 where the price is not known.
    pub cost_micro_usd: u64,
}

impl TokenUsage {
    /// Adds what another exchange used.
    pub fn add(&mut self, other: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_write_tokens = self.cache_write_tokens.saturating_add(other.cache_write_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(other.cost_micro_usd);
    }
}

/// A model's answer.
#[derive(Debug, Clone)]
pub struct ChatReply {
    /// The answer's text.
    pub text: String,
    /// What it used; estimated where the provider does not say.
    pub usage: TokenUsage,
    /// Which provider answered, after any fallback.
    pub provider: String,
    /// Which model answered.
    pub model: String,
    /// How long it took.
    pub duration: Duration,
    /// Whether this is a recorded answer and no model was asked.
    pub recorded: bool,
}

/// Progress of a request to a model.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are named after what they hold")]
pub enum LlmProgress {
    /// A request goes out.
    RequestSent { provider: String, model: String, attempt: u32 },
    /// A part of the answer arrived.
    Text(String),
    /// The request will be retried.
    RetryScheduled { attempt: u32, wait: Duration, code: ErrorCode, message: String },
    /// The request failed for good on this model.
    RequestFailed { provider: String, model: String, code: ErrorCode, message: String },
    /// The next model of the chain is asked.
    Fallback { from: String, to: String, code: ErrorCode },
}

/// A model that can be asked.
#[async_trait]
pub trait LlmClient: Send + Sync {
    /// Asks the model, and reports its progress to `progress`.
    ///
    /// # Errors
    /// One of the `llm_…` codes. `llm_key_missing` is found before anything is sent, as is `llm_not_configured` for a name
    /// that is none of [`LlmClient::model_names`].
    async fn chat(
        &self,
        request: &ChatRequest,
        progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply>;

    /// `provider/model` of the first choice, for people.
    fn name(&self) -> String;

    /// The names by which a request may ask for another model than the first choice, in order.
    fn model_names(&self) -> Vec<String> {
        Vec::new()
    }
}
