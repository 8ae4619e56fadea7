//! One request to one model.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use genai::adapter::AdapterKind;
use genai::chat::{ChatOptions, ChatResponseFormat, ChatStreamEvent, JsonSpec, Usage};
use genai::resolver::{AuthData, Endpoint};
use genai::{Headers, ModelIden, ServiceTarget};
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value as Json;
use tracing::instrument::WithSubscriber as _;

use luaplan_base::{Clock, Error, ErrorCode, Result};

use super::classify::FailureContext;
use super::failure::AttemptFailure;
use super::settings::is_loopback;
use super::wire::WireWatch;
use super::wire_request::to_genai;
use super::{ChatRequest, LlmProgress, LlmSettings, Provider};

/// A streamed answer may take this many times the longest silence.
const WHOLE_ANSWER_FACTOR: u32 = 10;
/// No plan is longer; an endless answer is stopped here.
const ANSWER_BYTES_MAX: usize = 4 * 1024 * 1024;
const SCHEMA_NAME: &str = "reply";
/// Sent as key where none is needed; the library cannot omit the header.
const NO_KEY: &str = "none";

type Progress<'a> = &'a (dyn Fn(LlmProgress) + Send + Sync);

/// One model of the chain, ready to be asked.
pub(super) struct Model {
    pub(super) settings: LlmSettings,
    pub(super) key: Option<SecretString>,
    base_url: String,
    client: genai::Client,
    /// Set once the provider has refused the reply schema; it is then left out.
    schema_unknown: AtomicBool,
}

/// A complete answer, with its usage where the provider reports it.
pub(super) struct ModelAnswer {
    pub(super) text: String,
    pub(super) input_tokens: Option<u64>,
    pub(super) output_tokens: Option<u64>,
    pub(super) cached_tokens: u64,
    pub(super) cache_write_tokens: u64,
}

impl ModelAnswer {
    fn new(text: String, usage: Option<&Usage>) -> Self {
        let details = usage.and_then(|usage| usage.prompt_tokens_details.as_ref());
        Self {
            text,
            input_tokens: usage.and_then(|usage| count(usage.prompt_tokens)),
            output_tokens: usage.and_then(|usage| count(usage.completion_tokens)),
            cached_tokens: details.and_then(|details| count(details.cached_tokens)).unwrap_or(0),
            cache_write_tokens: details.and_then(|details| count(details.cache_creation_tokens)).unwrap_or(0),
        }
    }
}

impl Model {
    /// # Errors
    /// `config_invalid` where the address is invalid or the HTTP client cannot be built.
    pub(super) fn new(settings: &LlmSettings, key: Option<SecretString>) -> Result<Self> {
        let url = settings.url()?;
        // Redirects are not followed: the new host would receive the provider's key header.
        let mut http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(settings.timeout)
            .tcp_nodelay(true);
        if is_loopback(&url) {
            http = http.no_proxy();
        }
        let http = http.build().map_err(|error| {
            Error::new(ErrorCode::ConfigInvalid, "no HTTP client can be made for the model")
                .with_source(error)
        })?;
        let client = genai::Client::builder()
            .with_reqwest(http)
            .build()
            .map_err(|_| Error::new(ErrorCode::Internal, "the model client cannot be built"))?;
        Ok(Self {
            settings: settings.clone(),
            key,
            base_url: url.into(),
            client,
            schema_unknown: AtomicBool::new(false),
        })
    }

    /// Asks once; once more without the reply schema where the provider does not know it.
    pub(super) async fn ask(
        &self,
        request: &ChatRequest,
        attempt: u32,
        clock: &dyn Clock,
        progress: Progress<'_>,
    ) -> Result<ModelAnswer, AttemptFailure> {
        let schema = request.reply_schema.as_ref().filter(|_| !self.schema_unknown.load(Ordering::Relaxed));
        match self.ask_with(request, schema, attempt, clock, progress).await {
            Err(failure) if failure.schema_unknown => {
                self.schema_unknown.store(true, Ordering::Relaxed);
                progress(LlmProgress::RetryScheduled {
                    attempt,
                    wait: Duration::ZERO,
                    code: failure.error.code(),
                    message: failure.error.message().to_owned(),
                });
                self.ask_with(request, None, attempt, clock, progress).await
            }
            result => result,
        }
    }

    async fn ask_with(
        &self,
        request: &ChatRequest,
        schema: Option<&Json>,
        attempt: u32,
        clock: &dyn Clock,
        progress: Progress<'_>,
    ) -> Result<ModelAnswer, AttemptFailure> {
        progress(LlmProgress::RequestSent {
            provider: self.settings.provider.as_str().to_owned(),
            model: self.settings.model.clone(),
            attempt,
        });
        let name = self.settings.name();
        let address =
            self.settings.endpoint().map_or_else(String::new, |(host, port)| format!("{host}:{port}"));
        let circumstances = FailureContext {
            name: &name,
            address: &address,
            key: self.key.as_ref(),
            now: clock.now(),
            timeout_ms: u64::try_from(self.settings.timeout.as_millis()).unwrap_or(u64::MAX),
            schema_sent: schema.is_some(),
        };
        let watch = Arc::new(WireWatch::new(self.settings.provider));
        let options = self.options(request, schema, &watch);
        let result = if self.settings.stream {
            let whole = self.settings.timeout.saturating_mul(WHOLE_ANSWER_FACTOR);
            let asking = self.stream(request, &options, &circumstances, progress);
            tokio::time::timeout(whole, asking).await
        } else {
            let asking = self.fetch(request, &options, &circumstances, &watch);
            tokio::time::timeout(self.settings.timeout, asking).await
        };
        let result = result.unwrap_or_else(|_| Err(circumstances.timed_out()));
        let answer = verify(result, &watch, &circumstances)?;
        if !self.settings.stream && !answer.text.is_empty() {
            progress(LlmProgress::Text(answer.text.clone()));
        }
        Ok(answer)
    }

    async fn stream(
        &self,
        request: &ChatRequest,
        options: &ChatOptions,
        circumstances: &FailureContext<'_>,
        progress: Progress<'_>,
    ) -> Result<ModelAnswer, AttemptFailure> {
        // The library logs whole bodies; its log is turned off rather than trusted.
        let response = self
            .client
            .exec_chat_stream(self.target(), to_genai(request, &self.settings), Some(options))
            .with_subscriber(tracing::Dispatch::none())
            .await;
        let mut stream = response.map_err(|error| circumstances.judge(error))?.stream;
        let (mut text, mut usage) = (String::new(), None);
        while let Some(event) = stream.next().with_subscriber(tracing::Dispatch::none()).await {
            match event.map_err(|error| circumstances.judge(error))? {
                ChatStreamEvent::Chunk(chunk) => {
                    if text.len() + chunk.content.len() > ANSWER_BYTES_MAX {
                        return Err(circumstances.nonsense("it does not end"));
                    }
                    text.push_str(&chunk.content);
                    progress(LlmProgress::Text(chunk.content));
                }
                ChatStreamEvent::End(end) => {
                    usage = end.captured_usage;
                    break;
                }
                _ => {}
            }
        }
        Ok(ModelAnswer::new(text, usage.as_ref()))
    }

    async fn fetch(
        &self,
        request: &ChatRequest,
        options: &ChatOptions,
        circumstances: &FailureContext<'_>,
        watch: &WireWatch,
    ) -> Result<ModelAnswer, AttemptFailure> {
        let response = self
            .client
            .exec_chat(self.target(), to_genai(request, &self.settings), Some(options))
            .with_subscriber(tracing::Dispatch::none())
            .await;
        let response = match response {
            Ok(response) => response,
            Err(error) => {
                if let genai::Error::ChatResponseGeneration { response_body, .. } = &error {
                    watch.look_at_body(response_body);
                }
                return Err(circumstances.judge(error));
            }
        };
        if let Some(body) = &response.captured_raw_body {
            watch.look_at_body(body);
        }
        let usage = response.usage;
        Ok(ModelAnswer::new(response.content.into_joined_texts().unwrap_or_default(), Some(&usage)))
    }

    fn target(&self) -> ServiceTarget {
        let adapter = match self.settings.provider {
            Provider::Anthropic => AdapterKind::Anthropic,
            Provider::OpenAi => AdapterKind::OpenAI,
            Provider::Gemini => AdapterKind::Gemini,
            Provider::Ollama => AdapterKind::Ollama,
        };
        let key = self.key.as_ref().map_or(NO_KEY, |key| key.expose_secret());
        ServiceTarget {
            endpoint: Endpoint::from_owned(self.base_url.as_str()),
            auth: AuthData::from_single(key),
            model: ModelIden::new(adapter, self.settings.model.as_str()),
        }
    }

    fn options(&self, request: &ChatRequest, schema: Option<&Json>, watch: &Arc<WireWatch>) -> ChatOptions {
        let mut options = ChatOptions::default()
            .with_max_tokens(request.output_tokens_max.min(self.settings.output_tokens))
            .with_stream_header_timeout(self.settings.timeout)
            .with_stream_read_timeout(self.settings.timeout)
            .with_capture_usage(true)
            .with_capture_raw_body(true)
            .with_raw_frame_sink_arc(Arc::clone(watch) as _);
        if let Some(temperature) = self.settings.temperature {
            options = options.with_temperature(temperature);
        }
        if let Some(schema) = schema {
            options = options.with_response_format(match self.settings.provider {
                // The library sends no schema to Ollama; its JSON mode is the nearest there is.
                Provider::Ollama => ChatResponseFormat::JsonMode,
                _ => ChatResponseFormat::JsonSpec(JsonSpec::new(SCHEMA_NAME, schema.clone())),
            });
        }
        if self.settings.provider == Provider::Ollama
            && let Some(key) = &self.key
        {
            let bearer = format!("Bearer {}", key.expose_secret());
            options = options.with_extra_headers(Headers::from(("Authorization".to_owned(), bearer)));
        }
        options
    }
}

/// Decides from the raw frames whether an answer is complete.
fn verify(
    result: Result<ModelAnswer, AttemptFailure>,
    watch: &WireWatch,
    circumstances: &FailureContext<'_>,
) -> Result<ModelAnswer, AttemptFailure> {
    let seen = watch.seen();
    if let Some(refusal) = &seen.refusal {
        return Err(circumstances.refused(refusal));
    }
    if let Some(error) = &seen.error {
        return Err(circumstances.judge_error_frame(error));
    }
    let answer = result?;
    if seen.known_frames == 0 && seen.frames > 0 {
        return Err(circumstances.nonsense("nothing in it belongs to the provider's protocol"));
    }
    if !seen.terminated {
        return Err(circumstances.cut());
    }
    Ok(answer)
}

fn count(tokens: Option<i32>) -> Option<u64> {
    tokens.and_then(|tokens| u64::try_from(tokens).ok())
}
