//! Rank 1: language models behind one trait.
//!
//! [`GenaiClient`] asks real models (Anthropic, OpenAI and everything that speaks its protocol,
//! Gemini, Ollama) with retries and a fallback chain; [`RecordedClient`] plays back answers.
//!
//! **Never here:** prompts, plans, budgets of a run, reading the environment. A client sends a
//! request, and returns the answer and its cost.

mod attempt;
mod classify;
mod client;
mod failure;
mod genai_client;
mod keys;
mod marked;
mod recorded;
mod retry_after;
mod settings;
mod tokens;
mod wire;
mod wire_request;

pub use client::{ChatMessage, ChatReply, ChatRequest, ChatRole, LlmClient, LlmProgress, TokenUsage};
pub use genai_client::{GenaiClient, install_crypto_provider};
pub use keys::ProviderKeys;
pub use marked::marked_data;
pub use recorded::{RecordedClient, RecordedReply};
pub use settings::{LlmSettings, Provider};
pub use tokens::count_tokens;

#[cfg(test)]
mod tests;
