//! The names of the configured models, for a check that asks none of them.

use async_trait::async_trait;

use luaplan_base::{Error, ErrorCode, Result};
use luaplan_llm::{ChatReply, ChatRequest, LlmClient, LlmProgress};

/// Knows the names and no model.
pub(super) struct ModelNames(pub(super) Vec<String>);

#[async_trait]
impl LlmClient for ModelNames {
    async fn chat(
        &self,
        _request: &ChatRequest,
        _progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply> {
        Err(Error::new(ErrorCode::LlmNotConfigured, "only the names of models are known here"))
    }

    fn name(&self) -> String {
        String::new()
    }

    fn model_names(&self) -> Vec<String> {
        self.0.clone()
    }
}
