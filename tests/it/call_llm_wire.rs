//! `call_llm` through the real client: a provider's wire format on loopback, and a real small
//! model where `LUAPLAN_TEST_LLM_URL` names one.

use std::sync::Arc;
use std::time::Duration;

use luaplan::base::{LimitName, Value};
use luaplan::llm::{LlmSettings, Provider, ProviderKeys};
use luaplan::tools::call_llm::CallLlm;
use serde_json::json;

use crate::llm::server::{ANSWER, Answer, Server, client, keys};
use crate::support::{Part, TestRun, spec, value};

fn tool(settings: &LlmSettings, keys: &ProviderKeys) -> CallLlm {
    CallLlm::new(spec("call_llm", Duration::from_secs(120)), Arc::new(client(settings, keys)), 1)
}

#[tokio::test]
async fn a_provider_that_first_asks_to_wait_is_asked_again_and_all_of_it_is_written_down() {
    let first = Answer::case(429, "openai/429.json");
    let server = Server::start([first, Answer::case(200, "openai/normal.json")]).await;
    let mut settings = server.settings(Provider::OpenAi);
    settings.stream = false;
    let run = TestRun::new();
    let answer = run
        .call(&tool(&settings, &keys()), value(json!({ "prompt": "plan, please", "max_tokens": 9 })))
        .await;
    assert_eq!(answer, Ok(Value::from(ANSWER)));
    assert_eq!(run.budget.used(LimitName::LlmTokens), 33);
    let asked = server.asked();
    assert_eq!(asked[1].body["messages"], json!([{ "role": "user", "content": "plan, please" }]));
    assert_eq!(asked[1].body["max_tokens"], 9);
    let records = run.records().await;
    let names: Vec<_> = records.iter().map(|record| record.event.body.name()).collect();
    let expected = ["llm_request_sent", "llm_retry_scheduled", "llm_request_sent", "llm_response_received"];
    assert_eq!(names, expected);
    assert!(records.iter().all(|record| record.event.span_id == records[0].event.span_id));
}

#[tokio::test]
async fn a_missing_key_fails_before_anything_is_sent() {
    let server = Server::start([]).await;
    let settings = server.settings(Provider::OpenAi);
    let run = TestRun::new();
    let failure = run
        .call(&tool(&settings, &ProviderKeys::default()), value(json!({ "prompt": "x" })))
        .await
        .unwrap_err();
    assert_eq!((failure.code.as_str(), failure.retryable), ("llm_key_missing", false));
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn a_model_with_a_name_is_asked_in_place_of_the_first_choice() {
    let first = Server::start([]).await;
    let cheap = Server::start([Answer::case(200, "openai/normal.json")]).await;
    let mut settings = first.settings(Provider::OpenAi);
    let mut named = LlmSettings { model: "small".to_owned(), ..cheap.settings(Provider::OpenAi) };
    named.stream = false;
    settings.models.insert("cheap".to_owned(), named);
    let run = TestRun::new();
    let arguments = value(json!({ "prompt": "plan, please", "model": "cheap" }));
    let answer = run.call(&tool(&settings, &keys()), arguments).await;
    assert_eq!(answer, Ok(Value::from(ANSWER)));
    assert_eq!(cheap.asked()[0].body["model"], "small");
    assert!(first.asked().is_empty());

    let nested = LlmSettings { models: settings.models.clone(), ..settings.models["cheap"].clone() };
    settings.models.insert("nested".to_owned(), nested);
    let error = settings.validate().unwrap_err();
    assert_eq!(error.code().as_str(), "config_invalid");
    assert!(error.message().contains("llm.models"), "{}", error.message());
}

#[tokio::test]
async fn a_real_model_answers_and_its_tokens_are_paid() {
    let Some(url) = Part::Llm.place("asks a real model") else { return };
    let settings = LlmSettings {
        base_url: Some(url),
        timeout: Duration::from_secs(120),
        ..LlmSettings::new(Provider::OpenAi, "smollm2-135m-instruct")
    };
    let run = TestRun::new();
    let arguments = value(json!({ "prompt": "Tell me about the sea.", "max_tokens": 16 }));
    let answer = run.call(&tool(&settings, &ProviderKeys::default()), arguments).await.unwrap();
    assert!(!answer.as_str().unwrap().trim().is_empty());
    assert!((6..200).contains(&run.budget.used(LimitName::LlmTokens)));
}
