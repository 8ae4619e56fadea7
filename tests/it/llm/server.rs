//! A server on loopback that answers as scripted and keeps what it was asked.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, StatusCode};
use futures::StreamExt as _;
use luaplan::base::{RequestPurpose, SeededRandomness, SystemClock};
use luaplan::llm::{
    ChatMessage, ChatReply, ChatRequest, ChatRole, GenaiClient, LlmClient as _, LlmProgress, LlmSettings,
    Provider, ProviderKeys,
};
use serde_json::{Value as Json, json};

pub(crate) const KEY: &str = "test-key-4711";
pub(crate) const KEY_VARIABLE: &str = "LUAPLAN_TEST_KEY";
pub(crate) const ANSWER: &str = "Grüße, here is the plan: return 42";

/// How an answer ends.
#[derive(Clone, Copy)]
enum Ending {
    Whole,
    /// The connection breaks after the body.
    Broken,
    /// Nothing more comes.
    Silent,
}

/// One scripted answer.
#[derive(Clone)]
pub(crate) struct Answer {
    status: u16,
    content_type: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
    ending: Ending,
}

impl Answer {
    /// The file `tests/cases/llm/PATH`, with the content type its name tells.
    pub(crate) fn case(status: u16, path: &str) -> Self {
        let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/cases/llm").join(path);
        let body = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let content_type = match file.extension().and_then(|extension| extension.to_str()) {
            Some("sse") => "text/event-stream",
            Some("ndjson") => "application/x-ndjson",
            _ => "application/json",
        };
        Self { status, content_type, headers: Vec::new(), body, ending: Ending::Whole }
    }

    pub(crate) fn text(content_type: &'static str, body: &str) -> Self {
        Self { status: 200, content_type, headers: Vec::new(), body: body.into(), ending: Ending::Whole }
    }

    pub(crate) fn silent() -> Self {
        Self { ending: Ending::Silent, ..Self::text("text/event-stream", "") }
    }

    pub(crate) fn status(self, status: u16) -> Self {
        Self { status, ..self }
    }

    pub(crate) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(crate) fn then_broken(self) -> Self {
        Self { ending: Ending::Broken, ..self }
    }

    pub(crate) fn then_silent(self) -> Self {
        Self { ending: Ending::Silent, ..self }
    }

    async fn respond(self) -> Response<Body> {
        if matches!(self.ending, Ending::Silent) && self.body.is_empty() {
            std::future::pending::<()>().await;
        }
        // Odd pieces, so that characters and frames are split.
        let pieces: Vec<Result<Bytes, std::io::Error>> =
            self.body.chunks(7).map(|piece| Ok(Bytes::copy_from_slice(piece))).collect();
        let pieces = futures::stream::iter(pieces);
        let body = match self.ending {
            Ending::Whole => Body::from_stream(pieces),
            Ending::Broken => {
                let broken = futures::stream::once(async {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    Err(std::io::Error::other("broken on purpose"))
                });
                Body::from_stream(pieces.chain(broken))
            }
            Ending::Silent => Body::from_stream(pieces.chain(futures::stream::pending())),
        };
        let mut response = Response::builder().status(self.status).header("content-type", self.content_type);
        for (name, value) in self.headers {
            response = response.header(name, value);
        }
        response.body(body).unwrap()
    }
}

/// One request as it arrived.
#[derive(Clone)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Json,
}

#[derive(Clone, Default)]
struct Script {
    answers: Arc<Mutex<VecDeque<Answer>>>,
    asked: Arc<Mutex<Vec<Asked>>>,
}

/// Lives as long as the test that started it.
pub(crate) struct Server {
    address: String,
    script: Script,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let script = Script::default();
        script.answers.lock().unwrap().extend(answers);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(script.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, script, task }
    }

    /// Where clients of OpenAI's protocol ask.
    pub(crate) fn base_url(&self) -> String {
        format!("{}/v1", self.address)
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.script.asked.lock().unwrap().clone()
    }

    /// Settings that reach this server, with waits short enough for a test.
    pub(crate) fn settings(&self, provider: Provider) -> LlmSettings {
        let path = match provider {
            Provider::Anthropic | Provider::OpenAi => "/v1",
            Provider::Gemini => "/v1beta",
            Provider::Ollama => "",
        };
        LlmSettings {
            base_url: Some(format!("{}{path}", self.address)),
            api_key_env: Some(KEY_VARIABLE.to_owned()),
            retry_wait: Duration::from_millis(1),
            retry_wait_max: Duration::from_millis(40),
            ..LlmSettings::new(provider, model(provider))
        }
    }
}

async fn answer(State(script): State<Script>, request: Request) -> Result<Response<Body>, Infallible> {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 10_000_000).await.unwrap();
    script.asked.lock().unwrap().push(Asked {
        path: parts.uri.to_string(),
        headers: parts.headers,
        body: serde_json::from_slice(&body).unwrap(),
    });
    let next = script.answers.lock().unwrap().pop_front();
    Ok(match next {
        Some(answer) => answer.respond().await,
        None => Response::builder().status(StatusCode::IM_A_TEAPOT).body(Body::empty()).unwrap(),
    })
}

pub(crate) fn model(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => "claude-test-1",
        Provider::OpenAi => "gpt-test-1",
        Provider::Gemini => "gemini-test-1",
        Provider::Ollama => "llama-test",
    }
}

pub(crate) fn keys() -> ProviderKeys {
    [(KEY_VARIABLE, KEY.to_owned())].into_iter().collect()
}

pub(crate) fn client(settings: &LlmSettings, keys: &ProviderKeys) -> GenaiClient {
    GenaiClient::new(settings, keys, Arc::new(SystemClock), Arc::new(SeededRandomness::new(7))).unwrap()
}

pub(crate) fn request() -> ChatRequest {
    let message = |role, text: &str| ChatMessage::new(role, text);
    ChatRequest {
        purpose: RequestPurpose::Plan,
        messages: vec![
            message(ChatRole::System, "You write Lua."),
            message(ChatRole::User, "first"),
            message(ChatRole::Assistant, "wrong"),
            message(ChatRole::User, "again"),
        ],
        reply_schema: Some(json!({
            "type": "object",
            "properties": {"plan": {"type": "string"}},
            "required": ["plan"],
            "additionalProperties": false
        })),
        output_tokens_max: 100,
        model: None,
    }
}

/// Asks, and tells what happened meanwhile.
pub(crate) async fn ask(settings: &LlmSettings) -> (luaplan::base::Result<ChatReply>, Vec<LlmProgress>) {
    let progress = Mutex::new(Vec::new());
    let client = client(settings, &keys());
    let reply = client.chat(&request(), &|step| progress.lock().unwrap().push(step)).await;
    (reply, progress.into_inner().unwrap())
}

/// The progress as short words, texts left out.
pub(crate) fn story(progress: &[LlmProgress]) -> Vec<String> {
    let tell = |step: &LlmProgress| match step {
        LlmProgress::RequestSent { model, attempt, .. } => Some(format!("sent {model} {attempt}")),
        LlmProgress::Text(_) => None,
        LlmProgress::RetryScheduled { attempt, code, .. } => Some(format!("retry {attempt} {code}")),
        LlmProgress::RequestFailed { model, code, .. } => Some(format!("failed {model} {code}")),
        LlmProgress::Fallback { from, to, code } => Some(format!("fallback {from} {to} {code}")),
    };
    progress.iter().filter_map(tell).collect()
}
