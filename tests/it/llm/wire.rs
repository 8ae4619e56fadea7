//! Each provider's protocol: what is sent, and what each kind of answer becomes.

use std::time::Duration;

use luaplan::base::ErrorCode;
use luaplan::llm::{ChatMessage, ChatRequest, ChatRole, LlmClient as _, LlmProgress, Provider};
use serde_json::{Value as Json, json};

use super::server::{ANSWER, Answer, Asked, KEY, Server, ask, story};

const ALL: [Provider; 4] = [Provider::Anthropic, Provider::OpenAi, Provider::Gemini, Provider::Ollama];

fn path(provider: Provider, case: &str) -> String {
    format!("{}/{case}", provider.as_str())
}

fn stream_case(provider: Provider, case: &str) -> Answer {
    let extension = if provider == Provider::Ollama { "ndjson" } else { "sse" };
    Answer::case(200, &path(provider, &format!("{case}.{extension}")))
}

/// Asks one attempt only, streaming or not, and gives the error's code.
async fn code_of(provider: Provider, stream: bool, answer: Answer) -> (ErrorCode, luaplan::base::Error) {
    code_within(Duration::from_secs(20), provider, stream, answer).await
}

async fn code_within(
    timeout: Duration,
    provider: Provider,
    stream: bool,
    answer: Answer,
) -> (ErrorCode, luaplan::base::Error) {
    let server = Server::start([answer]).await;
    let mut settings = server.settings(provider);
    settings.stream = stream;
    settings.max_attempts = 1;
    settings.timeout = timeout;
    let (reply, _) = ask(&settings).await;
    let error = reply.expect_err("an error");
    (error.code(), error)
}

fn assert_sent_as_the_provider_expects(provider: Provider, asked: &Asked, stream: bool) {
    let body = &asked.body;
    let header = |name: &str| asked.headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    let at = |pointer: &str| body.pointer(pointer).cloned().unwrap_or(Json::Null);
    match provider {
        Provider::Anthropic => {
            assert_eq!(asked.path, "/v1/messages");
            assert_eq!(header("x-api-key").as_deref(), Some(KEY));
            assert!(header("anthropic-version").is_some());
            assert_eq!(at("/system"), json!("You write Lua."));
            assert_eq!(at("/messages/0/role"), json!("user"));
            assert_eq!(at("/messages/1/role"), json!("assistant"));
            assert_eq!(at("/messages/2/content"), json!("again"));
            assert_eq!(at("/max_tokens"), json!(100));
            assert_eq!(at("/output_config/format/type"), json!("json_schema"));
            assert_eq!(at("/output_config/format/schema/required"), json!(["plan"]));
        }
        Provider::OpenAi => {
            assert_eq!(asked.path, "/v1/chat/completions");
            assert_eq!(header("authorization"), Some(format!("Bearer {KEY}")));
            assert_eq!(at("/messages/0"), json!({"role": "system", "content": "You write Lua."}));
            assert_eq!(at("/messages/3"), json!({"role": "user", "content": "again"}));
            assert_eq!(at("/max_tokens"), json!(100));
            assert_eq!(at("/response_format/type"), json!("json_schema"));
            assert_eq!(at("/response_format/json_schema/schema/required"), json!(["plan"]));
            if stream {
                assert_eq!(at("/stream_options/include_usage"), json!(true));
            }
        }
        Provider::Gemini => {
            let method = if stream { "streamGenerateContent?alt=sse" } else { "generateContent" };
            assert_eq!(asked.path, format!("/v1beta/models/gemini-test-1:{method}"));
            assert_eq!(header("x-goog-api-key").as_deref(), Some(KEY));
            assert_eq!(at("/systemInstruction/parts/0/text"), json!("You write Lua."));
            assert_eq!(at("/contents/1/role"), json!("model"));
            assert_eq!(at("/generationConfig/maxOutputTokens"), json!(100));
            assert_eq!(at("/generationConfig/responseMimeType"), json!("application/json"));
            assert_eq!(at("/generationConfig/responseJsonSchema/required"), json!(["plan"]));
        }
        Provider::Ollama => {
            assert_eq!(asked.path, "/api/chat");
            assert_eq!(header("authorization"), Some(format!("Bearer {KEY}")));
            assert_eq!(at("/messages/0"), json!({"role": "system", "content": "You write Lua."}));
            assert_eq!(at("/options/num_predict"), json!(100));
            assert_eq!(at("/format"), json!("json"));
        }
    }
    if provider != Provider::Gemini {
        assert_eq!(at("/model"), json!(super::server::model(provider)));
        assert_eq!(at("/stream"), json!(stream));
    }
}

#[tokio::test]
async fn a_whole_answer_is_read_with_its_usage_and_price() {
    for provider in ALL {
        let server = Server::start([Answer::case(200, &path(provider, "normal.json"))]).await;
        let mut settings = server.settings(provider);
        settings.stream = false;
        settings.price_input = Some(3.0);
        settings.price_output = Some(15.0);
        let (reply, progress) = ask(&settings).await;
        let reply = reply.unwrap();
        assert_eq!(reply.text, ANSWER);
        assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (21, 12), "{provider:?}");
        assert_eq!(reply.usage.cost_micro_usd, 21 * 3 + 12 * 15);
        assert_eq!(reply.provider, provider.as_str());
        assert!(!reply.recorded);
        assert_eq!(story(&progress), [format!("sent {} 1", settings.model)]);
        assert_sent_as_the_provider_expects(provider, &server.asked()[0], false);
    }
}

/// The request of a task: its rules and what databases hold are the same for every task.
fn with_stable_parts() -> ChatRequest {
    let mut request = super::server::request();
    request.messages[0].stable_bytes = "You write".len();
    request.messages[1] =
        ChatMessage::new(ChatRole::User, "tables\n\ntask").with_stable_bytes("tables".len());
    request
}

#[tokio::test]
async fn what_is_the_same_for_every_task_is_marked_for_anthropic_and_for_no_other() {
    let mark = json!({"type": "ephemeral"});
    for provider in ALL {
        let server = Server::start([Answer::case(200, &path(provider, "normal.json"))]).await;
        let mut settings = server.settings(provider);
        settings.stream = false;
        let client = super::server::client(&settings, &super::server::keys());
        client.chat(&with_stable_parts(), &|_| {}).await.unwrap();
        let body = &server.asked()[0].body;
        if provider != Provider::Anthropic {
            assert!(!body.to_string().contains("cache"), "{body}");
            continue;
        }
        let text = |text: &str| json!({"type": "text", "text": text});
        let marked = |text: &str| json!({"type": "text", "text": text, "cache_control": mark});
        assert_eq!(body["system"], json!([marked("You write"), text(" Lua.")]));
        assert_eq!(body["messages"][0]["content"], json!([marked("tables"), text("\n\ntask")]));
        assert_eq!(body["messages"][2]["content"], "again");
    }
    let server = Server::start([Answer::case(200, "anthropic/normal.json")]).await;
    let mut settings = server.settings(Provider::Anthropic);
    (settings.stream, settings.prompt_cache) = (false, false);
    let client = super::server::client(&settings, &super::server::keys());
    client.chat(&with_stable_parts(), &|_| {}).await.unwrap();
    assert_eq!(server.asked()[0].body["system"], "You write Lua.");
    assert_eq!(server.asked()[0].body["messages"][0]["content"], "tables\n\ntask");
}

#[tokio::test]
async fn tokens_from_a_cache_are_counted_and_have_their_own_price() {
    let answer = json!({"type": "message", "role": "assistant", "stop_reason": "end_turn",
        "content": [{"type": "text", "text": ANSWER}],
        "usage": {"input_tokens": 100, "cache_read_input_tokens": 2_000, "cache_creation_input_tokens": 300, "output_tokens": 10}});
    let openai = json!({"choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}],
        "usage": {"prompt_tokens": 2_400, "completion_tokens": 10, "total_tokens": 2_410, "prompt_tokens_details": {"cached_tokens": 2_000}}});
    for (provider, answer, written) in [(Provider::Anthropic, answer, 300), (Provider::OpenAi, openai, 0)] {
        let body = answer.to_string();
        let answers = [Answer::text("application/json", &body), Answer::text("application/json", &body)];
        let server = Server::start(answers).await;
        let mut settings = server.settings(provider);
        settings.stream = false;
        (settings.price_input, settings.price_output) = (Some(3.0), Some(15.0));
        let usage = ask(&settings).await.0.unwrap().usage;
        assert_eq!(
            (usage.input_tokens, usage.cached_tokens, usage.cache_write_tokens),
            (2_400, 2_000, written)
        );
        assert_eq!(usage.cost_micro_usd, 2_400 * 3 + 10 * 15, "without prices of a cache");
        (settings.price_cache_read, settings.price_cache_write) = (Some(0.3), Some(3.75));
        let usage = ask(&settings).await.0.unwrap().usage;
        let expected = (400 - written) * 3 + 600 + written * 375 / 100 + 10 * 15;
        assert_eq!(usage.cost_micro_usd, expected, "{provider:?}");
    }
}

#[tokio::test]
async fn a_streamed_answer_comes_in_parts_and_is_read_whole() {
    for provider in ALL {
        let server = Server::start([stream_case(provider, "stream")]).await;
        let (reply, progress) = ask(&server.settings(provider)).await;
        let reply = reply.unwrap();
        let parts: Vec<&str> = progress
            .iter()
            .filter_map(|step| match step {
                LlmProgress::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(parts, ["Grüße, ", "here is the plan: ", "return 42"], "{provider:?}");
        assert_eq!(reply.text, ANSWER);
        assert_eq!((reply.usage.input_tokens, reply.usage.output_tokens), (21, 12), "{provider:?}");
        assert_sent_as_the_provider_expects(provider, &server.asked()[0], true);
    }
}

#[tokio::test]
async fn tokens_are_counted_here_where_the_provider_does_not_say() {
    let server = Server::start([Answer::case(200, "openai/stream_without_usage.sse")]).await;
    let (reply, _) = ask(&server.settings(Provider::OpenAi)).await;
    let usage = reply.unwrap().usage;
    assert_eq!(usage.output_tokens, luaplan::llm::count_tokens(ANSWER));
    assert!(usage.input_tokens >= 7, "{usage:?}");
}

#[tokio::test]
async fn a_stream_without_its_end_mark_is_a_cut_stream() {
    for provider in ALL {
        let (code, _) = code_of(provider, true, stream_case(provider, "cut")).await;
        assert_eq!(code, ErrorCode::LlmStreamCut, "{provider:?} closed early");
        let (code, _) = code_of(provider, true, stream_case(provider, "cut").then_broken()).await;
        assert_eq!(code, ErrorCode::LlmStreamCut, "{provider:?} broken connection");
        let whole = Answer::case(200, &path(provider, "normal.json")).then_broken();
        let (code, _) = code_of(provider, false, whole).await;
        assert_eq!(code, ErrorCode::LlmStreamCut, "{provider:?} broken body");
    }
}

#[tokio::test]
async fn silence_is_a_timeout_before_and_inside_an_answer() {
    for provider in ALL {
        for (stream, answer) in [
            (true, Answer::silent()),
            (false, Answer::silent()),
            (true, stream_case(provider, "cut").then_silent()),
        ] {
            let (code, error) = code_within(Duration::from_millis(300), provider, stream, answer).await;
            assert_eq!(code, ErrorCode::LlmTimeout, "{provider:?}");
            assert_eq!(error.details()["timeout_ms"], json!(300));
        }
    }
}

#[tokio::test]
async fn nonsense_is_an_invalid_reply() {
    let html = "<html><body><h1>It works!</h1></body></html>";
    for provider in ALL {
        for (content_type, body) in [
            ("text/html", html),
            ("application/json", r#"{"hello":"world"}"#),
            ("application/json", r#"["#),
            ("text/plain", ""),
        ] {
            let (code, _) = code_of(provider, false, Answer::text(content_type, body)).await;
            assert_eq!(code, ErrorCode::LlmInvalidReply, "{provider:?} whole {body:?}");
        }
        for (content_type, body) in
            [("text/html", html), ("text/event-stream", "data: {\"hello\":\"world\"}\n\ndata: [DONE]\n\n")]
        {
            let (code, error) = code_of(provider, true, Answer::text(content_type, body)).await;
            assert_eq!(code, ErrorCode::LlmInvalidReply, "{provider:?} stream {body:?} {error}");
        }
    }
}

#[tokio::test]
async fn an_error_inside_a_stream_is_the_providers_failure() {
    for provider in ALL {
        let (code, error) = code_of(provider, true, stream_case(provider, "error")).await;
        assert_eq!(code, ErrorCode::LlmUnavailable, "{provider:?} {error}");
    }
}

#[tokio::test]
async fn a_refusal_is_told_as_one() {
    let cases = [
        (Provider::Anthropic, false, "anthropic/refusal.json"),
        (Provider::Anthropic, true, "anthropic/refusal.sse"),
        (Provider::OpenAi, false, "openai/refusal.json"),
        (Provider::OpenAi, false, "openai/content_filter.json"),
        (Provider::OpenAi, true, "openai/refusal.sse"),
        (Provider::Gemini, false, "gemini/refusal.json"),
        (Provider::Gemini, false, "gemini/safety.json"),
        (Provider::Gemini, true, "gemini/refusal.sse"),
    ];
    for (provider, stream, case) in cases {
        let (code, error) = code_of(provider, stream, Answer::case(200, case)).await;
        assert_eq!(code, ErrorCode::LlmRefused, "{case}: {error}");
    }
    let (_, error) = code_of(Provider::OpenAi, true, Answer::case(200, "openai/refusal.sse")).await;
    assert!(error.message().contains("I'm sorry, I cannot assist with that."), "{error}");
}

#[tokio::test]
async fn a_refused_key_is_named_without_being_shown() {
    for provider in ALL {
        for stream in [true, false] {
            let status = if provider == Provider::Gemini { 400 } else { 401 };
            let answer = Answer::case(status, &path(provider, "401.json"));
            let (code, error) = code_of(provider, stream, answer).await;
            assert_eq!(code, ErrorCode::LlmUnauthorized, "{provider:?} {error}");
            let everything = format!("{error} {error:?} {} {}", error.to_json(), error.help());
            assert!(!everything.contains(KEY), "{everything}");
        }
    }
}

#[tokio::test]
async fn a_prompt_that_is_too_long_names_limit_and_size() {
    let sizes = [(200_000, 210_030), (128_000, 130_234), (1_048_576, 1_200_000), (8_192, 9_000)];
    for (provider, (limit, observed)) in ALL.into_iter().zip(sizes) {
        for stream in [true, false] {
            let answer = Answer::case(400, &path(provider, "overflow.json"));
            let (code, error) = code_of(provider, stream, answer).await;
            assert_eq!(code, ErrorCode::LlmContextOverflow, "{provider:?} {error}");
            assert_eq!(error.limit(), Some(&json!(limit)));
            assert_eq!(error.observed(), Some(&json!(observed)));
        }
    }
}

#[tokio::test]
async fn a_model_that_is_gone_is_unavailable() {
    let (code, error) = code_of(Provider::Ollama, true, Answer::case(404, "ollama/404.json")).await;
    assert_eq!(code, ErrorCode::LlmUnavailable);
    assert!(error.message().contains("model 'llama-test' not found"), "{error}");
}
