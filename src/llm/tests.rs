//! Settings, keys, waits and recorded answers.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderValue, RETRY_AFTER};

use luaplan_base::{ErrorCode, RequestPurpose};

use super::retry_after::requested_wait;
use super::{
    ChatMessage, ChatRequest, ChatRole, LlmClient as _, LlmSettings, Provider, ProviderKeys, RecordedClient,
    count_tokens,
};

fn parse(text: &str) -> Result<LlmSettings, toml::de::Error> {
    toml::from_str(text)
}

#[test]
fn every_key_but_provider_and_model_has_a_default() {
    let settings = parse("provider = \"anthropic\"\nmodel = \"m\"").unwrap();
    assert_eq!(settings, LlmSettings::new(Provider::Anthropic, "m"));
    assert_eq!(settings.timeout, Duration::from_secs(60));
    assert_eq!((settings.max_attempts, settings.prompt_tokens, settings.output_tokens), (4, 16_000, 4_096));
    settings.validate().unwrap();
}

#[test]
fn settings_written_and_read_again_are_the_same() {
    let text = r#"
        provider = "openai"
        model = "m"
        base_url = "http://127.0.0.1:8080/v1"
        timeout = "1m30s"
        price_input = 0.25
        fallback = [{ provider = "ollama", model = "n", max_attempts = 1 }]
    "#;
    let settings = parse(text).unwrap();
    assert_eq!(settings.chain().iter().map(|link| link.name()).collect::<Vec<_>>(), ["openai/m", "ollama/n"]);
    assert_eq!(parse(&toml::to_string(&settings).unwrap()).unwrap(), settings);
}

#[test]
fn unknown_keys_and_providers_are_refused() {
    assert!(
        parse("provider = \"anthropic\"\nmodel = \"m\"\nmodle = 1")
            .unwrap_err()
            .to_string()
            .contains("modle")
    );
    assert!(parse("provider = \"other\"\nmodel = \"m\"").is_err());
    assert!(parse("provider = \"gemini\"\nmodel = \"m\"\ntimeout = 5").is_err());
}

#[test]
fn settings_that_make_no_sense_name_their_key() {
    type Spoil = fn(&mut LlmSettings);
    let cases: [(&str, Spoil); 10] = [
        ("llm.model", |settings| settings.model = " ".to_owned()),
        ("llm.base_url", |settings| settings.base_url = Some("not a url".to_owned())),
        ("llm.base_url", |settings| settings.base_url = Some("ftp://host/".to_owned())),
        ("llm.base_url", |settings| settings.base_url = Some("https://user:pw@host/v1".to_owned())),
        ("llm.max_attempts", |settings| settings.max_attempts = 0),
        ("llm.timeout", |settings| settings.timeout = Duration::ZERO),
        ("llm.retry_wait_max", |settings| settings.retry_wait_max = Duration::from_millis(1)),
        ("llm.temperature", |settings| settings.temperature = Some(2.5)),
        ("llm.price_output", |settings| settings.price_output = Some(-1.0)),
        ("llm.price_cache_read", |settings| settings.price_cache_read = Some(f64::NAN)),
    ];
    for (key, spoil) in cases {
        let mut link = LlmSettings::new(Provider::Gemini, "m");
        spoil(&mut link);
        let mut settings = LlmSettings::new(Provider::Anthropic, "m");
        settings.fallback = vec![link];
        let error = settings.validate().unwrap_err();
        assert_eq!(error.code(), ErrorCode::ConfigInvalid);
        assert!(error.message().contains(key), "{error}");
        assert!(!error.message().contains("pw"), "{error}");
    }
}

#[test]
fn the_key_variable_is_the_named_one_then_the_usual_one_and_none_on_loopback() {
    let mut settings = LlmSettings::new(Provider::OpenAi, "m");
    assert_eq!(settings.key_variable(), Some("OPENAI_API_KEY"));
    for local in ["http://127.0.0.1:1/v1", "http://localhost:1/v1", "http://[::1]:1/v1"] {
        settings.base_url = Some(local.to_owned());
        assert_eq!(settings.key_variable(), None, "{local}");
    }
    settings.api_key_env = Some("MINE".to_owned());
    assert_eq!(settings.key_variable(), Some("MINE"));
    assert_eq!(LlmSettings::new(Provider::Ollama, "m").key_variable(), None);
    assert_eq!(LlmSettings::new(Provider::Gemini, "m").key_variable(), Some("GEMINI_API_KEY"));
}

#[test]
fn keys_show_their_names_alone_and_empty_ones_count_as_missing() {
    let keys: ProviderKeys = [("A", " secret \n".to_owned()), ("B", " ".to_owned())].into_iter().collect();
    assert_eq!(format!("{keys:?}"), r#"{"A"}"#);
    assert!(keys.get("A").is_some());
    assert!(keys.get("B").is_none());
}

#[test]
fn a_wait_is_read_from_seconds_milliseconds_and_dates() {
    let now: Timestamp = "2025-06-15T10:00:00Z".parse().unwrap();
    let wait = |name, value| {
        let headers: HeaderMap = [(name, HeaderValue::from_static(value))].into_iter().collect();
        requested_wait(&headers, now)
    };
    assert_eq!(wait(RETRY_AFTER, "7"), Some(Duration::from_secs(7)));
    assert_eq!(wait(RETRY_AFTER, "0.5"), Some(Duration::from_millis(500)));
    assert_eq!(wait(RETRY_AFTER, "Sun, 15 Jun 2025 10:00:09 GMT"), Some(Duration::from_secs(9)));
    assert_eq!(wait(RETRY_AFTER, "Sun, 15 Jun 2025 09:00:00 GMT"), Some(Duration::ZERO));
    assert_eq!(wait("retry-after-ms".parse().unwrap(), "250"), Some(Duration::from_millis(250)));
    for nonsense in ["-1", "soon", "1e400", ""] {
        assert_eq!(wait(RETRY_AFTER, nonsense), None, "{nonsense}");
    }
}

#[test]
fn tokens_are_counted_and_huge_texts_estimated() {
    assert_eq!(count_tokens(""), 0);
    assert_eq!(count_tokens("function run(context) return 42 end"), 8);
    assert_eq!(count_tokens("<|endoftext|>").min(2), 2, "a special mark is ordinary text");
    assert_eq!(count_tokens(&"x".repeat(600 * 1024)), 200 * 1024);
}

fn request(text: &str) -> ChatRequest {
    ChatRequest {
        purpose: RequestPurpose::Plan,
        messages: vec![ChatMessage::new(ChatRole::User, text)],
        reply_schema: None,
        output_tokens_max: 10,
        model: None,
    }
}

#[tokio::test]
async fn recorded_replies_are_given_once_to_what_they_match() {
    let json = r#"[{"match": "sum", "text": "one"}, {"text": "two"}]"#;
    let client = RecordedClient::from_json("demo", json).unwrap();
    assert_eq!(client.name(), "recorded/demo");
    let reply = client.chat(&request("other"), &|_| {}).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.recorded), ("two", true));
    assert_eq!(client.chat(&request("a sum"), &|_| {}).await.unwrap().text, "one");
    let error = client.chat(&request("a sum"), &|_| {}).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::LlmUnavailable);
    let error = RecordedClient::from_json("demo", r#"[{"texts": 1}]"#).unwrap_err();
    assert_eq!(error.code(), ErrorCode::BadRequest);
}
