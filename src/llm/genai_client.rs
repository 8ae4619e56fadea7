//! Real models: retries on one, then the next of the chain.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use backon::{ExponentialBuilder, Retryable as _};

use luaplan_base::{Clock, Error, ErrorCode, Randomness, Result};

use super::attempt::{Model, ModelAnswer};
use super::failure::AttemptFailure;
use super::{
    ChatReply, ChatRequest, LlmClient, LlmProgress, LlmSettings, ProviderKeys, TokenUsage, count_tokens,
};

/// Makes TLS work: installs the one crypto provider of this binary, unless one is there already.
///
/// Every HTTP client of the process needs it; calling it again does nothing.
pub fn install_crypto_provider() {
    // An error only says that one is installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// Asks real models over HTTP.
pub struct GenaiClient {
    settings: LlmSettings,
    chain: ModelChain,
    /// Further models, by the names under which a request may ask for them.
    named: BTreeMap<String, ModelChain>,
    clock: Arc<dyn Clock>,
    randomness: Arc<dyn Randomness>,
}

/// A model and its fallbacks.
struct ModelChain {
    models: Vec<Model>,
    /// The variable whose key is missing, found when the client was made.
    missing_key: Option<String>,
}

impl ModelChain {
    fn new(settings: &LlmSettings, keys: &ProviderKeys) -> Result<Self> {
        let mut models = Vec::new();
        let mut missing_key = None;
        for link in settings.chain() {
            let variable = link.key_variable();
            let key = variable.and_then(|variable| keys.get(variable)).cloned();
            if let (Some(variable), None) = (variable, &key) {
                missing_key.get_or_insert_with(|| variable.to_owned());
            }
            models.push(Model::new(link, key)?);
        }
        Ok(Self { models, missing_key })
    }

    fn check_keys(&self) -> Result<()> {
        let Some(variable) = &self.missing_key else { return Ok(()) };
        Err(Error::new(
            ErrorCode::LlmKeyMissing,
            format!("the environment variable {variable} is not set; no model was asked"),
        )
        .with_help(format!("set {variable} to the provider's key, or change `llm.api_key_env`"))
        .with_detail("variable", variable.as_str()))
    }
}

impl fmt::Debug for GenaiClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiClient").field("settings", &self.settings).finish_non_exhaustive()
    }
}

impl GenaiClient {
    /// A client for the model in `settings` and its fallbacks.
    ///
    /// A missing key is not an error here, so that commands that ask no model work without one;
    /// [`LlmClient::chat`] and [`GenaiClient::check_keys`] report it.
    ///
    /// # Errors
    /// `config_invalid` where a setting makes no sense.
    pub fn new(
        settings: &LlmSettings,
        keys: &ProviderKeys,
        clock: Arc<dyn Clock>,
        randomness: Arc<dyn Randomness>,
    ) -> Result<Self> {
        settings.validate()?;
        install_crypto_provider();
        let chain = ModelChain::new(settings, keys)?;
        let named = settings.models.iter().map(|(name, own)| Ok((name.clone(), ModelChain::new(own, keys)?)));
        let named = named.collect::<Result<_>>()?;
        Ok(Self { settings: settings.clone(), chain, named, clock, randomness })
    }

    /// Whether the first choice and its fallbacks have the keys they need.
    ///
    /// # Errors
    /// `llm_key_missing`, naming the variable.
    pub fn check_keys(&self) -> Result<()> {
        self.chain.check_keys()
    }

    /// The models to ask for a request.
    fn chain_of(&self, request: &ChatRequest) -> Result<&ModelChain> {
        let Some(name) = &request.model else { return Ok(&self.chain) };
        self.named.get(name).ok_or_else(|| {
            Error::new(ErrorCode::LlmNotConfigured, format!("there is no model `{name}`"))
                .with_help(format!("configure it under `[llm.models.{name}]`, or ask for no model by name"))
        })
    }

    async fn ask_with_retries(
        &self,
        model: &Model,
        request: &ChatRequest,
        progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ModelAnswer, AttemptFailure> {
        let settings = &model.settings;
        let attempts_made = AtomicU32::new(0);
        let backoff = ExponentialBuilder::new()
            .with_min_delay(settings.retry_wait)
            .with_max_delay(settings.retry_wait_max)
            .with_max_times(settings.max_attempts.saturating_sub(1) as usize)
            .with_jitter()
            .with_jitter_seed(self.randomness.next_u64());
        let ask = || {
            let attempt = attempts_made.fetch_add(1, Ordering::Relaxed) + 1;
            model.ask(request, attempt, &*self.clock, progress)
        };
        ask.retry(backoff)
            .when(|failure| failure.retryable)
            .adjust(|failure, wait| {
                wait.and_then(|wait| bounded(wait, failure.wait, settings.retry_wait_max))
            })
            .notify(|failure, wait| {
                progress(LlmProgress::RetryScheduled {
                    attempt: attempts_made.load(Ordering::Relaxed) + 1,
                    wait,
                    code: failure.error.code(),
                    message: failure.error.message().to_owned(),
                });
            })
            .await
            .map_err(|failure| note_wait(failure, attempts_made.load(Ordering::Relaxed)))
    }

    fn reply(&self, model: &Model, request: &ChatRequest, answer: ModelAnswer, took: Duration) -> ChatReply {
        let input_tokens = answer
            .input_tokens
            .filter(|tokens| *tokens > 0)
            .unwrap_or_else(|| request.messages.iter().map(|message| count_tokens(&message.text)).sum());
        let output_tokens =
            answer.output_tokens.filter(|tokens| *tokens > 0).unwrap_or_else(|| count_tokens(&answer.text));
        let mut usage = TokenUsage {
            input_tokens,
            output_tokens,
            cached_tokens: answer.cached_tokens.min(input_tokens),
            cache_write_tokens: answer.cache_write_tokens.min(input_tokens),
            cost_micro_usd: 0,
        };
        usage.cost_micro_usd = model.settings.cost_micro_usd(&usage);
        ChatReply {
            text: answer.text,
            usage,
            provider: model.settings.provider.as_str().to_owned(),
            model: model.settings.model.clone(),
            duration: took,
            recorded: false,
        }
    }
}

/// The wait before the next attempt; none where the provider asks for more than the longest wait.
fn bounded(wait: Duration, asked: Option<Duration>, wait_max: Duration) -> Option<Duration> {
    match asked {
        Some(asked) if asked > wait_max => None,
        Some(asked) => Some(asked.max(wait).min(wait_max)),
        None => Some(wait.min(wait_max)),
    }
}

fn note_wait(mut failure: AttemptFailure, attempts: u32) -> AttemptFailure {
    let mut error = failure.error.with_detail("attempts", attempts);
    if let Some(wait) = failure.wait {
        error = error.with_detail("retry_after_ms", u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    }
    failure.error = error;
    failure
}

#[async_trait]
impl LlmClient for GenaiClient {
    async fn chat(
        &self,
        request: &ChatRequest,
        progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply> {
        let chain = self.chain_of(request)?;
        chain.check_keys()?;
        let mut tried: Vec<String> = Vec::new();
        for (index, model) in chain.models.iter().enumerate() {
            let started = self.clock.now();
            let failure = match self.ask_with_retries(model, request, progress).await {
                Ok(answer) => {
                    let took = Duration::try_from(self.clock.now().duration_since(started));
                    return Ok(self.reply(model, request, answer, took.unwrap_or_default()));
                }
                Err(failure) => failure,
            };
            let code = failure.error.code();
            progress(LlmProgress::RequestFailed {
                provider: model.settings.provider.as_str().to_owned(),
                model: model.settings.model.clone(),
                code,
                message: failure.error.message().to_owned(),
            });
            tried.push(format!("{}: {code}", model.settings.name()));
            let Some(next) = chain.models.get(index + 1).filter(|_| failure.falls_back()) else {
                return Err(failure.error.with_detail("tried", tried));
            };
            progress(LlmProgress::Fallback { from: model.settings.name(), to: next.settings.name(), code });
        }
        Err(Error::new(ErrorCode::LlmNotConfigured, "no model is configured"))
    }

    fn name(&self) -> String {
        self.settings.name()
    }

    fn model_names(&self) -> Vec<String> {
        self.named.keys().cloned().collect()
    }
}
