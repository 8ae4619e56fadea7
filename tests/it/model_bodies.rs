//! What is kept of prompts and answers: hashes, and whole texts as files where they are asked for.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use luaplan::base::ContentHash;
use serde_json::{Value as Json, json};

use crate::cli::Folder;
use crate::llm::server::{Answer, Server};

const KEY: &str = "made-up-key-4711";
const ANSWER: &str = "The tide is at six. The key was made-up-key-4711.";
const PLAN: &str = "function run()\n  return call_llm(\"When is the tide? made-up-key-4711\")\nend";

async fn model() -> (Server, String) {
    let answer = json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": "m",
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": ANSWER}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    });
    let server = Server::start(vec![Answer::text("application/json", &answer.to_string())]).await;
    let base_url = server.base_url();
    let settings = format!(
        "[llm]\nprovider = \"openai\"\nmodel = \"m\"\nstream = false\nbase_url = \"{base_url}\"\napi_key_env = \"MODEL_KEY\"\n"
    );
    (server, settings)
}

/// Runs the plan in a folder with these settings.
async fn run(settings: String) -> (Folder, Vec<Json>) {
    tokio::task::spawn_blocking(move || {
        let folder = Folder::with(&[("luaplan.toml", &settings), ("plan.lua", PLAN)]);
        let key = [("MODEL_KEY", KEY)];
        let ended = folder.run_with(&key, &["run", "plan.lua", "--events"]);
        assert_eq!(ended.code, 0, "{ended}");
        let events = ended.json_lines().into_iter().filter(|line| line.get("event").is_some()).collect();
        (folder, events)
    })
    .await
    .unwrap()
}

fn event<'a>(events: &'a [Json], name: &str) -> &'a Json {
    events.iter().find(|event| event["event"] == name).unwrap()
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn without_being_asked_only_hashes_are_kept() {
    let (_server, settings) = model().await;
    let (folder, events) = run(settings).await;
    let answered = event(&events, "llm_response_received");
    let kept = ANSWER.replace(KEY, "[redacted]");
    assert_eq!(answered["text_hash"], json!(ContentHash::of(kept.as_bytes()).as_str()));
    assert_eq!((answered["text_bytes"].as_u64(), answered.get("text")), (Some(kept.len() as u64), None));
    assert_eq!(event(&events, "llm_request_sent")["prompt_hash"].as_str().map(str::len), Some(64));
    assert_eq!(files(&folder.join(".luaplan/model-bodies")), Vec::<PathBuf>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_texts_are_files_of_their_owner_without_secrets() {
    let (_server, settings) = model().await;
    let (folder, events) = run(format!("{settings}[journal]\nmodel_bodies = \"files\"\n")).await;
    let answered = event(&events, "llm_response_received");
    let (run, span) = (answered["run_id"].as_str().unwrap(), answered["span_id"].as_str().unwrap());
    let place = folder.join(".luaplan/model-bodies").join(run);
    let (prompt, answer) =
        (place.join(format!("{span}.prompt.json")), place.join(format!("{span}.answer.txt")));
    let mut found = files(&folder.join(".luaplan/model-bodies"));
    found.sort();
    assert_eq!(found, [answer.clone(), prompt.clone()]);
    for path in &found {
        assert_eq!(
            std::fs::metadata(path).unwrap().permissions().mode() & 0o777,
            0o600,
            "{}",
            path.display()
        );
    }
    let answer = std::fs::read(answer).unwrap();
    assert_eq!(answered["text_hash"], json!(ContentHash::of(&answer).as_str()));
    assert_eq!(String::from_utf8(answer).unwrap(), ANSWER.replace(KEY, "[redacted]"));
    let prompt: Json = serde_json::from_slice(&std::fs::read(prompt).unwrap()).unwrap();
    let texts: Vec<&str> =
        prompt.as_array().unwrap().iter().map(|message| message["text"].as_str().unwrap()).collect();
    assert_eq!(prompt.as_array().unwrap().last().unwrap()["role"], "user");
    assert!(texts.iter().any(|text| text.contains("When is the tide? [redacted]")), "{texts:?}");
    let sent = event(&events, "llm_request_sent");
    assert_eq!(sent["prompt_hash"], json!(ContentHash::of(texts.join("\n").as_bytes()).as_str()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_that_cannot_be_written_fails_no_request() {
    let (_server, settings) = model().await;
    let settings = format!("{settings}[journal]\nmodel_bodies = \"files\"\n");
    let ended = tokio::task::spawn_blocking(move || {
        let folder = Folder::with(&[
            ("luaplan.toml", &settings),
            ("plan.lua", PLAN),
            (".luaplan/model-bodies", "a file in the folder's place"),
        ]);
        folder.run_with(&[("MODEL_KEY", KEY)], &["run", "plan.lua"])
    });
    let ended = ended.await.unwrap();
    assert_eq!(ended.code, 0, "{ended}");
    assert!(ended.err.contains("could not be written to its file"), "{ended}");
}
