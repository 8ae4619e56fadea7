//! Answers played back instead of asking a model: for the demo and for tests.

use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use luaplan_base::{Error, ErrorCode, Result};

use super::{ChatReply, ChatRequest, LlmClient, LlmProgress, TokenUsage, count_tokens};

const PROVIDER: &str = "recorded";

/// One recorded answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedReply {
    /// Text that a request must contain to get this answer. Absent: any request.
    #[serde(default, rename = "match", skip_serializing_if = "Option::is_none")]
    pub matches: Option<String>,
    /// The answer.
    pub text: String,
}

/// Gives each recorded answer once, in order, to the first request it matches.
///
/// Its replies set [`ChatReply::recorded`], which marks them as not a model's.
#[derive(Debug)]
pub struct RecordedClient {
    model: String,
    replies: Mutex<Vec<RecordedReply>>,
}

impl RecordedClient {
    /// A client that gives `replies`. `model` is what reports show as the model's name.
    #[must_use]
    pub fn new(model: impl Into<String>, replies: Vec<RecordedReply>) -> Self {
        Self { model: model.into(), replies: Mutex::new(replies) }
    }

    /// Reads `[{"match": "…", "text": "…"}, …]`.
    ///
    /// # Errors
    /// `bad_request` for any other text.
    pub fn from_json(model: impl Into<String>, text: &str) -> Result<Self> {
        let replies = serde_json::from_str(text).map_err(|error| {
            Error::new(ErrorCode::BadRequest, format!("the recorded replies cannot be read: {error}"))
                .with_help("write a JSON list of objects with `text` and, if wanted, `match`")
        })?;
        Ok(Self::new(model, replies))
    }

    fn take(&self, request: &ChatRequest) -> Option<RecordedReply> {
        let mut replies = self.replies.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let index = replies.iter().position(|reply| match &reply.matches {
            Some(wanted) => request.messages.iter().any(|message| message.text.contains(wanted)),
            None => true,
        })?;
        Some(replies.remove(index))
    }
}

#[async_trait]
impl LlmClient for RecordedClient {
    async fn chat(
        &self,
        request: &ChatRequest,
        progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply> {
        progress(LlmProgress::RequestSent {
            provider: PROVIDER.to_owned(),
            model: self.model.clone(),
            attempt: 1,
        });
        let Some(reply) = self.take(request) else {
            let error = Error::new(ErrorCode::LlmUnavailable, "no recorded reply fits this request")
                .with_help("record a reply for it, or configure a model");
            progress(LlmProgress::RequestFailed {
                provider: PROVIDER.to_owned(),
                model: self.model.clone(),
                code: error.code(),
                message: error.message().to_owned(),
            });
            return Err(error);
        };
        progress(LlmProgress::Text(reply.text.clone()));
        let input_tokens = request.messages.iter().map(|message| count_tokens(&message.text)).sum();
        Ok(ChatReply {
            usage: TokenUsage {
                input_tokens,
                output_tokens: count_tokens(&reply.text),
                ..TokenUsage::default()
            },
            text: reply.text,
            provider: PROVIDER.to_owned(),
            model: self.model.clone(),
            duration: Duration::ZERO,
            recorded: true,
        })
    }

    fn name(&self) -> String {
        format!("{PROVIDER}/{}", self.model)
    }
}
