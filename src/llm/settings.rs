//! The configuration of models.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use url::{Host, Url};

use luaplan_base::{Error, ErrorCode, Result};

use super::TokenUsage;

/// A model provider, named after the protocol it speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Provider {
    /// Anthropic's Messages.
    Anthropic,
    /// OpenAI's Chat Completions; with `base_url` every service that speaks it.
    #[serde(rename = "openai")]
    OpenAi,
    /// Google's generateContent.
    Gemini,
    /// Ollama's own `/api/chat`.
    Ollama,
}

impl Provider {
    /// The provider's name in configuration and events.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic",
            Self::OpenAi => "openai",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
        }
    }

    /// The environment variable its key comes from unless `api_key_env` says otherwise.
    #[must_use]
    pub const fn default_key_variable(self) -> Option<&'static str> {
        match self {
            Self::Anthropic => Some("ANTHROPIC_API_KEY"),
            Self::OpenAi => Some("OPENAI_API_KEY"),
            Self::Gemini => Some("GEMINI_API_KEY"),
            Self::Ollama => None,
        }
    }

    /// Where the provider answers, where the configuration names no address.
    #[must_use]
    pub const fn default_base_url(self) -> &'static str {
        match self {
            Self::Anthropic => "https://api.anthropic.com/v1/",
            Self::OpenAi => "https://api.openai.com/v1/",
            Self::Gemini => "https://generativelanguage.googleapis.com/v1beta/",
            Self::Ollama => "http://127.0.0.1:11434/",
        }
    }
}

/// The `[llm]` table, and each entry of its `fallback` list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LlmSettings {
    /// Which protocol to speak.
    #[serde(default = "default_provider")]
    pub provider: Provider,
    /// The model's name, as the provider spells it. Empty: no model is configured.
    #[serde(default)]
    pub model: String,
    /// Where the provider is, up to and including the version (`https://host/v1`). Absent: the
    /// provider's own address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_url: Option<String>,
    /// The environment variable that holds the key. Absent: the provider's usual one, and none at
    /// all for Ollama and for a `base_url` on loopback.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<String>,
    /// The longest silence: until the answer starts, and between its parts. A whole streamed
    /// answer may take ten times as long; an answer that is not streamed must arrive within it.
    #[serde(default = "default_timeout", with = "duration_text")]
    pub timeout: Duration,
    /// Sampling temperature, 0 to 2. Absent: the model's own default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Whether to stream the answer. Turn off for services that cannot.
    #[serde(default = "default_stream")]
    pub stream: bool,
    /// How often this model is asked before the next of the chain, counting the first time.
    #[serde(default = "default_max_attempts")]
    pub max_attempts: u32,
    /// The wait before the second attempt. It doubles each time, and random jitter adds up to as much
    /// again.
    #[serde(default = "default_retry_wait", with = "duration_text")]
    pub retry_wait: Duration,
    /// The longest wait between two attempts. Where a provider asks for more, this model is not asked again.
    #[serde(default = "default_retry_wait_max", with = "duration_text")]
    pub retry_wait_max: Duration,
    /// The most tokens a prompt may have.
    #[serde(default = "default_prompt_tokens")]
    pub prompt_tokens: u32,
    /// The most tokens an answer may have.
    #[serde(default = "default_output_tokens")]
    pub output_tokens: u32,
    /// US dollars per million tokens sent. Absent: not known, counted as 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_input: Option<f64>,
    /// US dollars per million tokens received. Absent: not known, counted as 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_output: Option<f64>,
    /// US dollars per million tokens that the provider reads from its cache. Absent: as `price_input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_cache_read: Option<f64>,
    /// US dollars per million tokens that the provider writes to its cache. Absent: as `price_input`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price_cache_write: Option<f64>,
    /// Whether to ask the provider to keep the part of prompts that is the same for every task. Those that keep it
    /// without being asked do so in any case.
    #[serde(default = "default_prompt_cache")]
    pub prompt_cache: bool,
    /// The models to ask, in order, when this one cannot answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<LlmSettings>,
    /// Further models by the names under which `call_llm` may ask for them, each with its own fallbacks.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub models: BTreeMap<String, LlmSettings>,
}

fn default_provider() -> Provider {
    Provider::Anthropic
}
fn default_timeout() -> Duration {
    Duration::from_secs(60)
}
fn default_stream() -> bool {
    true
}
fn default_prompt_cache() -> bool {
    true
}
fn default_max_attempts() -> u32 {
    4
}
fn default_retry_wait() -> Duration {
    Duration::from_millis(500)
}
fn default_retry_wait_max() -> Duration {
    Duration::from_secs(30)
}
fn default_prompt_tokens() -> u32 {
    16_000
}
fn default_output_tokens() -> u32 {
    4_096
}

impl Default for LlmSettings {
    /// No model: every key at its default.
    fn default() -> Self {
        Self::new(default_provider(), "")
    }
}

impl LlmSettings {
    /// Settings for a model with every other key at its default.
    #[must_use]
    pub fn new(provider: Provider, model: impl Into<String>) -> Self {
        Self {
            provider,
            model: model.into(),
            base_url: None,
            api_key_env: None,
            timeout: default_timeout(),
            temperature: None,
            stream: default_stream(),
            max_attempts: default_max_attempts(),
            retry_wait: default_retry_wait(),
            retry_wait_max: default_retry_wait_max(),
            prompt_tokens: default_prompt_tokens(),
            output_tokens: default_output_tokens(),
            price_input: None,
            price_output: None,
            price_cache_read: None,
            price_cache_write: None,
            prompt_cache: default_prompt_cache(),
            fallback: Vec::new(),
            models: BTreeMap::new(),
        }
    }

    /// Whether a model is named at all.
    #[must_use]
    pub fn is_configured(&self) -> bool {
        !self.model.trim().is_empty()
    }

    /// The environment variables with keys for all models.
    #[must_use]
    pub fn key_variables(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.all().iter().filter_map(|link| link.key_variable()).map(str::to_owned).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Host and port of the provider.
    #[must_use]
    pub fn endpoint(&self) -> Option<(String, u16)> {
        let url = self.url().ok()?;
        Some((url.host_str()?.to_owned(), url.port_or_known_default()?))
    }

    /// `provider/model`, for people and events.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.provider.as_str(), self.model)
    }

    /// This model and its fallbacks, in the order they are asked.
    #[must_use]
    pub fn chain(&self) -> Vec<&Self> {
        std::iter::once(self).chain(self.fallback.iter().flat_map(Self::chain)).collect()
    }

    /// This model, its fallbacks, and those that have names, with theirs.
    #[must_use]
    pub fn all(&self) -> Vec<&Self> {
        self.chain().into_iter().chain(self.models.values().flat_map(Self::chain)).collect()
    }

    /// The environment variable whose key must be set for this model, if any.
    #[must_use]
    pub fn key_variable(&self) -> Option<&str> {
        if let Some(variable) = &self.api_key_env {
            return Some(variable);
        }
        // A service on this machine must not receive the provider's usual key.
        if self.url().is_ok_and(|url| is_loopback(&url)) {
            return None;
        }
        self.provider.default_key_variable()
    }

    /// Checks what the types do not: addresses, ranges and names, for all models.
    ///
    /// # Errors
    /// `config_invalid`, naming the key.
    pub fn validate(&self) -> Result<()> {
        if self.models.keys().any(|name| name.trim().is_empty()) {
            return Err(invalid("models", "must have no empty name"));
        }
        let named = self.models.values().flat_map(Self::chain);
        if self.fallback.iter().flat_map(Self::chain).chain(named).any(|link| !link.models.is_empty()) {
            return Err(invalid("models", "must stand under `[llm]` alone"));
        }
        self.all().into_iter().try_for_each(Self::validate_one)
    }

    fn validate_one(&self) -> Result<()> {
        if self.model.trim().is_empty() {
            return Err(invalid("model", "must not be empty"));
        }
        self.url()?;
        let positive_counts = [
            ("max_attempts", self.max_attempts),
            ("prompt_tokens", self.prompt_tokens),
            ("output_tokens", self.output_tokens),
        ];
        for (key, value) in positive_counts {
            if value == 0 {
                return Err(invalid(key, "must be above zero"));
            }
        }
        for (key, value) in [("timeout", self.timeout), ("retry_wait", self.retry_wait)] {
            if value.is_zero() {
                return Err(invalid(key, "must be above zero"));
            }
        }
        if self.retry_wait_max < self.retry_wait {
            return Err(invalid("retry_wait_max", "must not be below `llm.retry_wait`"));
        }
        if self.temperature.is_some_and(|value| !(0.0..=2.0).contains(&value)) {
            return Err(invalid("temperature", "must be between 0 and 2"));
        }
        let prices = [
            ("price_input", self.price_input),
            ("price_output", self.price_output),
            ("price_cache_read", self.price_cache_read),
            ("price_cache_write", self.price_cache_write),
        ];
        for (key, price) in prices {
            if price.is_some_and(|value| !(0.0..=1e6).contains(&value)) {
                return Err(invalid(key, "must be US dollars per million tokens, 0 or more"));
            }
        }
        Ok(())
    }

    /// The provider's address, with a slash at its end, as joining paths needs.
    pub(super) fn url(&self) -> Result<Url> {
        let text = self.base_url.as_deref().unwrap_or(self.provider.default_base_url());
        let mut url =
            Url::parse(text).map_err(|error| invalid("base_url", &format!("is not a URL: {error}")))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            return Err(invalid("base_url", "must be an http or https URL"));
        }
        if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
            return Err(invalid("base_url", "must hold neither user, password nor query")
                .with_help("put the key into the environment variable that `llm.api_key_env` names"));
        }
        url.set_fragment(None);
        if !url.path().ends_with('/') {
            url.set_path(&format!("{}/", url.path()));
        }
        Ok(url)
    }

    /// What `usage` costs at this model's prices, in millionths of a US dollar, rounded up.
    pub(super) fn cost_micro_usd(&self, usage: &TokenUsage) -> u64 {
        let input = self.price_input.unwrap_or(0.0);
        let uncached =
            usage.input_tokens.saturating_sub(usage.cached_tokens).saturating_sub(usage.cache_write_tokens);
        // Dollars per million tokens are millionths of a dollar per token.
        #[expect(clippy::cast_precision_loss, reason = "token counts are far below 2^52")]
        let cost = uncached as f64 * input
            + usage.cached_tokens as f64 * self.price_cache_read.unwrap_or(input)
            + usage.cache_write_tokens as f64 * self.price_cache_write.unwrap_or(input)
            + usage.output_tokens as f64 * self.price_output.unwrap_or(0.0);
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "prices are checked")]
        let cost = cost.ceil() as u64;
        cost
    }
}

pub(super) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        None => false,
    }
}

fn invalid(key: &str, why: &str) -> Error {
    Error::new(ErrorCode::ConfigInvalid, format!("`llm.{key}` {why}"))
        .with_detail("key", format!("llm.{key}"))
}

mod duration_text {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(duration: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        match jiff::SignedDuration::try_from(*duration) {
            Ok(signed) => serializer.collect_str(&format_args!("{signed:#}")),
            Err(error) => Err(serde::ser::Error::custom(error)),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(deserializer)?;
        luaplan_base::parse_duration(&text).map_err(|error| serde::de::Error::custom(error.message()))
    }
}
