//! A model client that redacts each message before it is sent.

use std::sync::Arc;

use async_trait::async_trait;

use luaplan_base::Result;
use luaplan_journal::Redactor;
use luaplan_llm::{ChatReply, ChatRequest, LlmClient, LlmProgress};

/// In front of the configured model, for every caller.
pub(super) struct RedactingClient {
    pub(super) model: Arc<dyn LlmClient>,
    pub(super) redactor: Arc<Redactor>,
}

#[async_trait]
impl LlmClient for RedactingClient {
    async fn chat(
        &self,
        request: &ChatRequest,
        progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply> {
        let mut request = request.clone();
        for message in &mut request.messages {
            let (stable, rest) = message.parts();
            let stable = self.redactor.text(stable);
            (message.stable_bytes, message.text) = (stable.len(), stable + &self.redactor.text(rest));
        }
        if let Some(schema) = &mut request.reply_schema {
            self.redactor.document(schema);
        }
        self.model.chat(&request, progress).await
    }

    fn name(&self) -> String {
        self.model.name()
    }

    fn model_names(&self) -> Vec<String> {
        self.model.model_names()
    }
}
