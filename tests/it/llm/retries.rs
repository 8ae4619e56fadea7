//! What is tried again, how long is waited, and when the next model takes over.

use std::time::Duration;

use luaplan::base::ErrorCode;
use luaplan::llm::{LlmClient as _, LlmProgress, LlmSettings, Provider, ProviderKeys};
use serde_json::json;

use super::server::{ANSWER, Answer, KEY_VARIABLE, Server, ask, client, keys, request, story};

fn good(provider: Provider) -> Answer {
    match provider {
        Provider::Ollama => Answer::case(200, "ollama/stream.ndjson"),
        other => Answer::case(200, &format!("{}/stream.sse", other.as_str())),
    }
}

#[tokio::test]
async fn a_failure_that_may_pass_is_tried_again() {
    for provider in [Provider::Anthropic, Provider::OpenAi, Provider::Gemini, Provider::Ollama] {
        let name = provider.as_str();
        for (status, code) in [(429, "llm_rate_limited"), (500, "llm_unavailable")] {
            let failing = Answer::case(status, &format!("{name}/{status}.json"));
            let server = Server::start([failing.clone(), failing, good(provider)]).await;
            let settings = server.settings(provider);
            let (reply, progress) = ask(&settings).await;
            assert_eq!(reply.unwrap().text, ANSWER);
            let model = &settings.model;
            let expected = [
                format!("sent {model} 1"),
                format!("retry 2 {code}"),
                format!("sent {model} 2"),
                format!("retry 3 {code}"),
                format!("sent {model} 3"),
            ];
            assert_eq!(story(&progress), expected);
        }
    }
}

#[tokio::test]
async fn a_cut_stream_and_a_timeout_are_tried_again() {
    let answers = [Answer::case(200, "anthropic/cut.sse"), Answer::silent(), good(Provider::Anthropic)];
    let server = Server::start(answers).await;
    let mut settings = server.settings(Provider::Anthropic);
    settings.timeout = Duration::from_secs(3);
    let (reply, progress) = ask(&settings).await;
    assert_eq!(reply.unwrap().text, ANSWER);
    let retries: Vec<String> =
        story(&progress).into_iter().filter(|step| step.starts_with("retry")).collect();
    assert_eq!(retries, ["retry 2 llm_stream_cut", "retry 3 llm_timeout"]);
}

fn waits(progress: &[LlmProgress]) -> Vec<Duration> {
    let wait = |step: &LlmProgress| match step {
        LlmProgress::RetryScheduled { wait, .. } => Some(*wait),
        _ => None,
    };
    progress.iter().filter_map(wait).collect()
}

#[tokio::test]
async fn the_wait_a_provider_asks_for_is_kept() {
    let asking = Answer::case(429, "anthropic/429.json").header("retry-after", "1");
    let server = Server::start([asking, good(Provider::Anthropic)]).await;
    let mut settings = server.settings(Provider::Anthropic);
    settings.retry_wait_max = Duration::from_secs(2);
    let (reply, progress) = ask(&settings).await;
    assert_eq!(reply.unwrap().text, ANSWER);
    assert_eq!(waits(&progress), [Duration::from_secs(1)]);
}

#[tokio::test]
async fn a_provider_that_asks_for_more_than_is_waited_is_left_at_once() {
    let asking = Answer::case(429, "openai/429.json").header("retry-after", "7");
    let server = Server::start([asking]).await;
    let (reply, progress) = ask(&server.settings(Provider::OpenAi)).await;
    let error = reply.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LlmRateLimited);
    assert_eq!(error.details()["retry_after_ms"], json!(7_000));
    assert_eq!(story(&progress), ["sent gpt-test-1 1", "failed gpt-test-1 llm_rate_limited"]);
}

#[tokio::test]
async fn waits_grow_and_stay_within_their_bound() {
    let failing = Answer::case(500, "openai/500.json");
    let server = Server::start(vec![failing; 6]).await;
    let mut settings = server.settings(Provider::OpenAi);
    settings.max_attempts = 6;
    let (reply, progress) = ask(&settings).await;
    assert_eq!(reply.unwrap_err().details()["attempts"], json!(6));
    let waits = waits(&progress);
    assert_eq!(waits.len(), 5);
    for (index, wait) in waits.iter().enumerate() {
        let base = Duration::from_millis(1 << index);
        assert!(*wait >= base && *wait <= base * 2, "wait {index} is {wait:?}");
    }
    let without_chance = |(index, wait): (usize, &Duration)| *wait == Duration::from_millis(1 << index);
    assert!(!waits.iter().enumerate().any(without_chance), "{waits:?}");
}

#[tokio::test]
async fn what_will_not_pass_is_not_tried_again() {
    let cases = [
        (401, "anthropic/401.json", Provider::Anthropic, ErrorCode::LlmUnauthorized),
        (400, "anthropic/overflow.json", Provider::Anthropic, ErrorCode::LlmContextOverflow),
        (429, "openai/quota.json", Provider::OpenAi, ErrorCode::LlmRateLimited),
        (500, "ollama/out_of_memory.json", Provider::Ollama, ErrorCode::LlmUnavailable),
        (404, "ollama/404.json", Provider::Ollama, ErrorCode::LlmUnavailable),
        (400, "openai/500.json", Provider::OpenAi, ErrorCode::LlmRequestRejected),
    ];
    for (status, case, provider, code) in cases {
        let server = Server::start([Answer::case(status, case), good(provider)]).await;
        let (reply, _) = ask(&server.settings(provider)).await;
        assert_eq!(reply.unwrap_err().code(), code, "{case}");
        assert_eq!(server.asked().len(), 1, "{case}");
    }
}

#[tokio::test]
async fn the_next_model_answers_when_the_first_cannot() {
    let first = Server::start(vec![Answer::case(500, "anthropic/500.json"); 2]).await;
    let second = Server::start([good(Provider::OpenAi)]).await;
    let mut settings = first.settings(Provider::Anthropic);
    settings.max_attempts = 2;
    settings.fallback = vec![second.settings(Provider::OpenAi)];
    let (reply, progress) = ask(&settings).await;
    let reply = reply.unwrap();
    assert_eq!((reply.provider.as_str(), reply.model.as_str()), ("openai", "gpt-test-1"));
    let expected = [
        "sent claude-test-1 1",
        "retry 2 llm_unavailable",
        "sent claude-test-1 2",
        "failed claude-test-1 llm_unavailable",
        "fallback anthropic/claude-test-1 openai/gpt-test-1 llm_unavailable",
        "sent gpt-test-1 1",
    ];
    assert_eq!(story(&progress), expected);
}

#[tokio::test]
async fn a_refusal_and_a_refused_key_are_not_taken_to_another_model() {
    for (status, case, code) in [
        (200, "anthropic/refusal.sse", ErrorCode::LlmRefused),
        (401, "anthropic/401.json", ErrorCode::LlmUnauthorized),
    ] {
        let first = Server::start([Answer::case(status, case)]).await;
        let second = Server::start([good(Provider::OpenAi)]).await;
        let mut settings = first.settings(Provider::Anthropic);
        settings.fallback = vec![second.settings(Provider::OpenAi)];
        let (reply, _) = ask(&settings).await;
        assert_eq!(reply.unwrap_err().code(), code);
        assert!(second.asked().is_empty());
    }
}

#[tokio::test]
async fn nothing_listens_and_the_model_is_unavailable() {
    let server = Server::start([]).await;
    let mut settings = server.settings(Provider::OpenAi);
    drop(server);
    settings.max_attempts = 2;
    // The port may be taken again by another test; one that is closed for certain is 1.
    settings.base_url = Some("http://127.0.0.1:1/v1".to_owned());
    let (reply, progress) = ask(&settings).await;
    let error = reply.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LlmUnavailable);
    assert!(error.message().contains("onnection refused"), "{error}");
    assert_eq!(story(&progress).len(), 4);
}

#[tokio::test]
async fn a_provider_without_reply_schemas_is_asked_again_without() {
    for provider in [Provider::Anthropic, Provider::OpenAi, Provider::Gemini] {
        let unknown = Answer::case(400, &format!("{}/schema_unknown.json", provider.as_str()));
        let server = Server::start([unknown, good(provider), good(provider)]).await;
        let settings = server.settings(provider);
        let client = client(&settings, &keys());
        for _ in 0..2 {
            assert_eq!(client.chat(&request(), &|_| {}).await.unwrap().text, ANSWER);
        }
        let with_schema: Vec<bool> =
            server.asked().iter().map(|asked| asked.body.to_string().contains("\"plan\"")).collect();
        assert_eq!(with_schema, [true, false, false], "{provider:?}");
    }
}

#[tokio::test]
async fn redirects_are_not_followed_because_they_would_carry_the_key() {
    let other = Server::start([good(Provider::Anthropic)]).await;
    let target = other.settings(Provider::Anthropic).base_url.unwrap();
    let redirect = Answer::text("text/plain", "").status(307).header("location", target);
    let server = Server::start([redirect]).await;
    let (reply, _) = ask(&server.settings(Provider::Anthropic)).await;
    assert_eq!(reply.unwrap_err().code(), ErrorCode::LlmRequestRejected);
    assert!(other.asked().is_empty());
}

#[tokio::test]
async fn a_missing_key_stops_before_anything_is_sent() {
    let server = Server::start([good(Provider::OpenAi)]).await;
    let settings = server.settings(Provider::OpenAi);
    let client = client(&settings, &ProviderKeys::default());
    let error = client.chat(&request(), &|step| panic!("nothing happens: {step:?}")).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LlmKeyMissing);
    assert!(error.message().contains(KEY_VARIABLE), "{error}");
    assert!(server.asked().is_empty());

    let remote = LlmSettings::new(Provider::Anthropic, "claude-test-1");
    let error = super::server::client(&remote, &ProviderKeys::default()).check_keys().unwrap_err();
    assert!(error.message().contains("ANTHROPIC_API_KEY"), "{error}");
}

#[tokio::test]
async fn a_model_on_loopback_needs_no_key_and_is_sent_none() {
    let server = Server::start([good(Provider::OpenAi)]).await;
    let mut settings = server.settings(Provider::OpenAi);
    settings.api_key_env = None;
    let keys: ProviderKeys = [("OPENAI_API_KEY", "sk-real".to_owned())].into_iter().collect();
    client(&settings, &keys).chat(&request(), &|_| {}).await.unwrap();
    let asked = server.asked();
    assert!(!format!("{:?}", asked[0].headers).contains("sk-real"));
}
