//! No key in any log, at any level, on good and bad ways alike.

use std::io::Write;
use std::sync::{Arc, Mutex};

use luaplan::llm::{GenaiClient, LlmClient as _, Provider};
use tracing_subscriber::fmt::MakeWriter;

use super::server::{Answer, KEY, Server, client, keys, request};

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Captured {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

#[tokio::test]
async fn no_key_appears_in_any_log() {
    let captured = Captured::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_writer(captured.clone())
        .with_ansi(false)
        .finish();
    let guard = tracing::subscriber::set_default(subscriber);
    for provider in [Provider::Anthropic, Provider::OpenAi, Provider::Gemini, Provider::Ollama] {
        let name = provider.as_str();
        for case in ["401.json", "500.json", "normal.json"] {
            let status = if case == "normal.json" { 200 } else { case[..3].parse().unwrap() };
            for stream in [true, false] {
                let server = Server::start([Answer::case(status, &format!("{name}/{case}"))]).await;
                let mut settings = server.settings(provider);
                settings.stream = stream;
                settings.max_attempts = 1;
                let client: GenaiClient = client(&settings, &keys());
                let reply = client.chat(&request(), &|step| tracing::trace!(?step, "progress")).await;
                tracing::info!(?client, ?reply, keys = ?keys(), "asked");
            }
        }
    }
    drop(guard);
    let log = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("progress") && log.contains("asked"), "the log was captured");
    let line = log.lines().find(|line| line.contains(KEY));
    assert_eq!(line, None);
}
