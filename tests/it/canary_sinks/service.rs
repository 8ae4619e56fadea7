//! The sinks of the service: answers, streams, its log, its files, what it asks a model.

use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value as Json, json};

use super::forms::{MODEL, Reach, SECRET, SERVICE, Table, all_marked, context, forms};
use super::scene::{LOCAL, PLAN, Scene, VARIABLES, said};
use crate::cli::Folder;
use crate::http_support::{Answer, Client, PATIENCE};
use crate::mcp::serve::Serving;

/// What a client writes otherwise in the path of an address.
const NOT_IN_PATHS: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'?').add(b'#').add(b'\\').add(b'`');

/// What an answer says, with its headers.
fn whole(answer: &Answer) -> String {
    format!("{:?}\n{}", answer.headers, answer.text)
}

/// The streamed words of a model, put together as a client does.
fn streamed_words(stream: &str) -> String {
    let data = stream.lines().filter_map(|line| line.strip_prefix("data: "));
    let events = data.filter_map(|data| serde_json::from_str::<Json>(data).ok());
    let words = events.filter(|event| event["event"] == "llm_text");
    words.map(|event| event["text"].as_str().unwrap_or_default().to_owned()).collect()
}

async fn posted(client: &Client, path: &str, body: &Json) -> Answer {
    let answer = client.post(path, body).await;
    assert!(answer.status < 300, "{path}: {}", answer.text);
    answer
}

/// A run that waits for a person: what is asked, what is decided, how it ends. Gives its id.
async fn decided(client: &Client, table: &mut Table, decision: &Json) -> String {
    let name = decision["decision"].as_str().unwrap();
    let body = json!({ "plan": PLAN, "context": context("well") });
    let paused = posted(client, "/v1/runs?wait=25s", &body).await;
    assert_eq!(paused.json()["status"], "paused", "{}", paused.text);
    let run_id = paused.json()["run_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/runs/{run_id}");
    table.words(format!("{name}: a paused run"), Reach::Lines, whole(&client.get(&path).await));
    let waits = client.get("/v1/approvals").await;
    table.words(format!("{name}: approvals"), Reach::Anywhere, whole(&waits));
    let approval = waits.json()["approvals"][0]["approval_id"].as_str().unwrap().to_owned();
    let decided = posted(client, &format!("/v1/approvals/{approval}"), decision).await;
    table.words(format!("{name}: a decision"), Reach::Anywhere, whole(&decided));
    let watched = client.events(&run_id, None).await.response;
    let stream = Answer::of(watched).await.text;
    table.words(format!("{name}: a stream of events"), Reach::Lines, stream);
    assert_eq!(client.until_ended(&run_id).await["status"], "succeeded");
    run_id
}

/// A run from its start to its end as server-sent events. Gives its id.
async fn streamed(client: &Client, path: &str, body: &Json) -> (String, String) {
    let request = client.request("POST", path).header("accept", "text/event-stream");
    let answer = request.body(body.to_string()).send().await.unwrap();
    let stream = tokio::time::timeout(PATIENCE, Answer::of(answer)).await.unwrap();
    assert_eq!(stream.status, 200, "{}", stream.text);
    let first = stream.text.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let first: Json = serde_json::from_str(first).unwrap();
    (first["run_id"].as_str().unwrap().to_owned(), whole(&stream))
}

/// What is answered about runs.
async fn runs(client: &Client, table: &mut Table) {
    for decision in [json!({ "decision": "deny", "reason": all_marked(true) }), json!({ "decision": "once" })]
    {
        let run_id = decided(client, table, &decision).await;
        let name = decision["decision"].as_str().unwrap();
        let path = format!("/v1/runs/{run_id}");
        let run = client.get(&path).await;
        table.words(format!("{name}: a run"), Reach::Whole, whole(&run));
        table.data(format!("{name}: its result"), run.json()["result"]["data"].to_string());
        table.data(format!("{name}: keys of its result"), run.json()["result"]["keys"].to_string());
        table.words(format!("{name}: what it printed"), Reach::Whole, run.json()["printed"].to_string());
        let parts = client.get(&format!("{path}/result?path=/printed")).await;
        table.words(format!("{name}: a part of it"), Reach::Whole, whole(&parts));
        let call = client.get(&format!("{path}/calls/1")).await;
        table.words(format!("{name}: a call"), Reach::Anywhere, whole(&call));
        let records = client.get(&format!("/v1/audit?run={run_id}&limit=1000")).await;
        table.words(format!("{name}: its records"), Reach::Lines, whole(&records));
    }
    for (ends, code) in [("raises", "plan_error"), ("uses a failure", "tool_error_used")] {
        let body = json!({ "plan": PLAN, "context": context(ends), "mode": "autonomous" });
        let (run_id, stream) = streamed(client, "/v1/runs", &body).await;
        table.words(format!("{ends}: a live stream"), Reach::Anywhere, &stream);
        let failed = client.get(&format!("/v1/runs/{run_id}")).await.json();
        assert_eq!(failed["error"]["code"], code, "{failed}");
        table.words(format!("{ends}: an error"), Reach::Anywhere, failed["error"].to_string());
    }
    // As it is given, and not backwards: recorded, and lost for a replay.
    let body = json!({ "plan": "function run(context) return context end", "context": { "said": all_marked(false) } });
    let outcome = posted(client, "/v1/runs?wait=25s", &body).await;
    assert!(outcome.json()["not_resumable"].is_object(), "{}", outcome.text);
    table.data("an outcome", whole(&outcome));
    let run_id = outcome.json()["run_id"].as_str().unwrap().to_owned();
    let begun = client.get(&format!("/v1/audit?run={run_id}&event=run_started")).await;
    table.data("a context on record", whole(&begun));
    let explained = posted(
        client,
        "/v1/plans/explain",
        &json!({ "plan": format!("function run() return fetch_url({}) end", json!(all_marked(false))) }),
    )
    .await;
    table.data("an explanation", whole(&explained));
    let named = json!({ "plan": "function run(context) return context end", "context": { "said": all_marked(false) }, "context_name": "kept" });
    let refused = posted(client, "/v1/runs?wait=25s", &named).await;
    assert_eq!(refused.json()["error"]["code"], "context_holds_secret", "{}", refused.text);
}

/// What a model is asked and says: for a plan, about its faults, and by a call of a plan.
async fn models(scene: &Scene, client: &Client, table: &mut Table) {
    let task = json!({ "task": all_marked(true), "context": { "a": 1 } });
    let (run_id, stream) = streamed(client, "/v1/tasks", &task).await;
    table.words("the stream of a task", Reach::Anywhere, &stream);
    table.words("a model's words as they come", Reach::Anywhere, streamed_words(&stream));
    let run = client.get(&format!("/v1/runs/{run_id}")).await;
    assert_eq!(run.json()["result"], 7, "{}", run.text);
    table.words("a task's run", Reach::Anywhere, whole(&run));
    let asked = scene.model.asked();
    assert_eq!(asked.len(), 4, "two calls of plans, a plan, a repair");
    for (name, one) in ["a call", "a call", "a plan", "a repair"].iter().zip(&asked) {
        assert_eq!(one.headers["authorization"], format!("Bearer {MODEL}"), "the model is shown its key");
        table.words(format!("the prompt for {name}"), Reach::Anywhere, one.body.to_string());
    }
    let said = asked[3].body["messages"].as_array().unwrap().iter().find(|said| said["role"] == "assistant");
    table.words("the plan that is to be repaired", Reach::Anywhere, said.unwrap().to_string());
}

/// Addresses that are not there: each is told back, and logged.
async fn nowhere(client: &Client) -> String {
    let mut said = String::new();
    for form in forms().iter().filter(|form| form.reach == Reach::Anywhere) {
        let path = utf8_percent_encode(&form.marked(), NOT_IN_PATHS).to_string();
        let refused = client.get(&format!("/v1/nowhere/{path}")).await;
        assert_eq!(refused.status, 404, "{}", refused.text);
        said.push_str(&whole(&refused));
    }
    said
}

async fn refusals(client: &Client, table: &mut Table) {
    table.data("refusals", nowhere(client).await);
    let odd = client
        .get(&format!("/v1/audit?event={}", utf8_percent_encode(&all_marked(true), NON_ALPHANUMERIC)))
        .await;
    assert_eq!(odd.status, 400, "{}", odd.text);
    table.words("a refused query", Reach::Anywhere, whole(&odd));
    let key = client.request("POST", "/v1/runs").header("idempotency-key", format!("a-key-{SECRET}"));
    let refused =
        Answer::of(key.body(json!({ "plan": "function run() end" }).to_string()).send().await.unwrap()).await;
    assert_eq!((refused.status, refused.text.contains("Canary")), (400, false), "{}", refused.text);
}

async fn serve(folder: &Folder, settings: &[&str]) -> Serving {
    let listen = ["serve", "--set", "server.listen=127.0.0.1:0"];
    let mut command: tokio::process::Command = folder.command(&[&listen[..], settings].concat()).into();
    command.envs(VARIABLES);
    let mut serving = Serving::launch(command).await;
    serving.client.key = Some(SERVICE.to_owned());
    serving
}

/// All that it wrote to standard error.
async fn log_of(serving: Serving) -> String {
    let log = serving.log.clone();
    serving.stop().await;
    log.lock().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_form_is_taken_out_of_every_sink_of_the_service() {
    let scene = Scene::new(said()).await;
    let mut table = Table::default();
    let serving = serve(&scene.folder, &["--set", "log.format=json"]).await;
    let client = serving.client.clone();
    runs(&client, &mut table).await;
    models(&scene, &client, &mut table).await;
    refusals(&client, &mut table).await;

    let asked = scene.site.asked.lock().unwrap().clone();
    assert!(
        asked.iter().any(|one| one["key"] == format!("at.as_is.{SECRET}.end")),
        "the server was shown it"
    );
    assert!(asked.iter().any(|one| one["message"].as_str().unwrap().contains("Q2FuYXJ5")), "and told it");
    let folder = scene.folder.join(".luaplan");
    assert!(folder.join("journal.db-wal").metadata().unwrap().len() > 0, "the log is still written ahead");
    let mut kept = String::new();
    for name in ["journal.db", "journal.db-wal"] {
        let bytes = std::fs::read(folder.join(name)).unwrap();
        kept.push_str(&String::from_utf8_lossy(&bytes));
    }
    table.words("the files of the journal", Reach::Lines, kept);
    let log = log_of(serving).await;
    assert!(log.contains("\"level\":\"TRACE\""), "the log is on, as JSON");
    table.data("the log as JSON", log);
    let serving = serve(&scene.folder, &[]).await;
    nowhere(&serving.client).await;
    let log = log_of(serving).await;
    assert!(log.contains(" INFO request{"), "the log is on, as text: {log}");
    table.data("the log as text", log);
    table.judge();
}

/// The journal keeps what it was given. What is told of it now knows the secrets of now.
#[tokio::test(flavor = "multi_thread")]
async fn what_was_recorded_before_a_secret_was_configured_is_not_told() {
    let scene = Scene::new(Vec::new()).await;
    scene.folder.write("before.toml", "[log]\nfilter = \"off\"\n");
    let source = format!(
        "function run(context)\n  local first = {}\n  print(first)\n  local page = fetch_url(\"http://h.x/\" .. first)\n  \
         return {{ said = first, failed = page.error ~= nil }}\nend",
        json!(SECRET)
    );
    scene.folder.write("before.lua", &source);
    let words = ["run", "before.lua", "--context-name", "kept", "--config", "before.toml", "--json"];
    let before = scene.folder.run(&words);
    assert!(before.out.contains("Canary"), "no secret was known then: {before}");
    let serving = serve(&scene.folder, &[]).await;
    let mut client = serving.client.clone();
    client.key = Some(LOCAL.to_owned());
    let run_id = before.json()["run_id"].as_str().unwrap().to_owned();
    let path = format!("/v1/runs/{run_id}");
    for told in [
        "",
        "/events",
        "/plan",
        "/graph?format=json",
        "/graph?format=svg",
        "/graph?format=mermaid",
        "/graph?format=dot",
    ] {
        let said = client.get(&format!("{path}{told}")).await;
        assert_eq!(said.status, 200, "{}", said.text);
        assert!(said.text.contains("redacted") && !said.text.contains("Cana"), "{told}: {}", said.text);
    }
    serving.stop().await;
}
