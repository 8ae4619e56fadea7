//! A real, very small model with the OpenAI protocol, where `LUAPLAN_TEST_LLM_URL` names one.

use std::sync::Mutex;
use std::time::Duration;

use crate::support::Part;
use luaplan::base::{ErrorCode, RequestPurpose};
use luaplan::llm::{
    ChatMessage, ChatReply, ChatRequest, ChatRole, LlmClient as _, LlmProgress, LlmSettings, Provider,
    ProviderKeys,
};
use serde_json::{Value as Json, json};

use super::server::client;

fn settings() -> Option<LlmSettings> {
    let url = Part::Llm.place("asks a real model")?;
    Some(LlmSettings {
        base_url: Some(url),
        temperature: Some(0.0),
        timeout: Duration::from_secs(120),
        ..LlmSettings::new(Provider::OpenAi, "smollm2-135m-instruct")
    })
}

fn user(text: &str, output_tokens_max: u32, reply_schema: Option<Json>) -> ChatRequest {
    ChatRequest {
        purpose: RequestPurpose::Plan,
        messages: vec![ChatMessage::new(ChatRole::User, text)],
        reply_schema,
        output_tokens_max,
        model: None,
    }
}

async fn ask(settings: &LlmSettings, request: &ChatRequest) -> (luaplan::base::Result<ChatReply>, usize) {
    let parts = Mutex::new(0);
    let reply = client(settings, &ProviderKeys::default())
        .chat(request, &|step| {
            if matches!(step, LlmProgress::Text(_)) {
                *parts.lock().unwrap() += 1;
            }
        })
        .await;
    (reply, parts.into_inner().unwrap())
}

#[tokio::test]
async fn a_real_model_answers_whole_and_in_parts_and_keeps_to_its_output_tokens() {
    let Some(mut settings) = settings() else { return };
    for stream in [false, true] {
        settings.stream = stream;
        let (reply, parts) = ask(&settings, &user("Tell me about the sea.", 24, None)).await;
        let reply = reply.unwrap();
        assert!(!reply.text.trim().is_empty());
        assert!((1..=24).contains(&reply.usage.output_tokens), "{:?}", reply.usage);
        assert!((5..100).contains(&reply.usage.input_tokens), "{:?}", reply.usage);
        assert_eq!(parts > 1, stream, "{parts} parts");
    }
}

#[tokio::test]
async fn a_real_model_is_held_to_the_reply_schema() {
    let Some(settings) = settings() else { return };
    let schema = json!({
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": ["red", "blue"]}},
        "required": ["answer"],
        "additionalProperties": false
    });
    let (reply, _) = ask(&settings, &user("What colour is the sky?", 60, Some(schema))).await;
    let text = reply.unwrap().text;
    let json: Json = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert!(["red", "blue"].contains(&json["answer"].as_str().unwrap()), "{text}");
}

#[tokio::test]
async fn a_real_model_refuses_a_prompt_that_is_too_long() {
    let Some(settings) = settings() else { return };
    let (reply, _) = ask(&settings, &user(&"the sea is wide ".repeat(2_000), 10, None)).await;
    let error = reply.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LlmContextOverflow, "{error}");
    assert_eq!(error.limit(), Some(&json!(4_096)));
    assert!(error.observed().and_then(Json::as_u64).unwrap() > 4_096);
}
