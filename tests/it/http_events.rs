//! Runs watched as server-sent events: all of them, in order, once.

use std::sync::Arc;

use async_trait::async_trait;
use luaplan::app::RunSpec;
use luaplan::app::Work;
use luaplan::base::{ErrorCode, Result, RunId};
use luaplan::llm::{ChatReply, ChatRequest, LlmClient, LlmProgress, TokenUsage};
use serde_json::json;
use sqlx::{Connection as _, Executor as _, SqliteConnection};

use crate::http_support::{Answer, EventStream, Gate, SentEvent, Service, open};

async fn post_and_watch(service: &Service, path: &str, body: &serde_json::Value) -> EventStream {
    let request = service.client.request("POST", path).header("accept", "text/event-stream");
    EventStream::of(request.body(body.to_string()).send().await.unwrap())
}

/// The ids of the journal's records of this run, and the names of their events.
async fn recorded(service: &Service, run_id: &str) -> Vec<(u64, String)> {
    let records = service.records(run_id).await;
    records.iter().map(|record| (record.sequence, record.event.body.name().to_owned())).collect()
}

fn seen(events: &[SentEvent]) -> Vec<(u64, String)> {
    events.iter().filter_map(|event| Some((event.id?, event.name.clone()))).collect()
}

fn run_id_of(event: &SentEvent) -> String {
    event.data["run_id"].as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_posted_run_streams_from_its_start_to_its_end() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    gate.open();
    let stream = post_and_watch(&service, "/v1/runs", &json!({ "plan": gate.long_plan(3) })).await;
    let location = stream.response.headers()["location"].to_str().unwrap().to_owned();
    let events = stream.all().await;
    let run_id = run_id_of(&events[0]);
    assert_eq!(location, format!("/v1/runs/{run_id}"));
    assert_eq!(events[0].name, "run_started");
    assert_eq!(events.last().unwrap().name, "run_finished");
    assert_eq!(events.last().unwrap().data["result"], "body");
    assert!(events.iter().all(|event| event.data["event"] == event.name));
    assert!(events.is_sorted_by_key(|event| event.id));
    assert_eq!(seen(&events), recorded(&service, &run_id).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_an_ended_run_are_replayed_whole_or_from_any_place() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    gate.open();
    let outcome = service.client.run(&gate.long_plan(4)).await;
    let run_id = outcome["run_id"].as_str().unwrap();
    let expected = recorded(&service, run_id).await;
    assert_eq!(seen(&service.client.events(run_id, None).await.all().await), expected);
    for (place, (id, _)) in expected.iter().enumerate().take(expected.len() - 1) {
        let rest = service.client.events(run_id, Some(*id)).await.all().await;
        assert_eq!(seen(&rest), expected[place + 1..]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_who_has_seen_the_end_is_told_not_to_come_again() {
    let service = Service::new().await;
    let outcome = service.client.run("function run() return 1 end").await;
    let run_id = outcome["run_id"].as_str().unwrap();
    let last = recorded(&service, run_id).await.last().unwrap().0;
    let path = format!("/v1/runs/{run_id}/events");
    let ask = async |id: &str| {
        let request = service.client.request("GET", &path).header("last-event-id", id);
        Answer::of(request.send().await.unwrap()).await
    };
    assert_eq!(ask(&last.to_string()).await.status, 204);
    for bad in ["x", "-1", "1.5", "", "99999999999999999999", &(last + 1).to_string(), "18446744073709551615"]
    {
        ask(bad).await.problem(400, "bad_request");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_a_run_that_was_paused_and_went_on_reach_to_its_end() {
    let service = Service::new().await;
    let client = &service.client;
    let run_id = client.begin("function run() for _ = 1, 10 do sleep(0.4) end return 1 end").await;
    let mut watcher = client.events(&run_id, None).await;
    let mut events = watcher.until("tool_call_started").await;
    assert_eq!(client.post(&format!("/v1/runs/{run_id}/pause"), &json!({})).await.status, 202);
    events.extend(watcher.all().await);
    assert_eq!(events.last().unwrap().name, "run_paused", "a pause ends the stream");
    let path = format!("/v1/runs/{run_id}/events");
    let paused_at = events.last().unwrap().id.unwrap();
    let ask = client.request("GET", &path).header("last-event-id", paused_at.to_string());
    assert_eq!(ask.send().await.unwrap().status(), 204, "nothing has come since");

    assert_eq!(client.post(&format!("/v1/runs/{run_id}/resume"), &json!({})).await.status, 202);
    let rest = client.events(&run_id, Some(paused_at)).await.all().await;
    assert_eq!(rest[0].name, "run_resumed");
    assert_eq!(rest.last().unwrap().name, "run_finished");
    events.extend(rest);
    let expected = recorded(&service, &run_id).await;
    assert_eq!(seen(&events), expected);
    assert_eq!(seen(&client.events(&run_id, None).await.all().await), expected, "from its first to its last");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_who_comes_in_the_middle_and_reconnects_loses_and_repeats_nothing() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let run_id = service.client.begin(&gate.long_plan(5)).await;
    gate.asked(6).await;
    let mut first = service.client.events(&run_id, None).await;
    let mut events = Vec::new();
    for _ in 0..4 {
        events.push(first.next().await.unwrap());
    }
    drop(first);
    let mut second = service.client.events(&run_id, events.last().unwrap().id).await;
    events.extend(second.until("tool_call_finished").await);
    // Attached while the last call is under way, with nothing to replay but what is missing.
    let mut third = service.client.events(&run_id, events.last().unwrap().id).await;
    events.push(third.next().await.unwrap());
    gate.open();
    events.extend(third.all().await);
    assert_eq!(seen(&events), recorded(&service, &run_id).await);
    assert_eq!(events.last().unwrap().name, "run_finished");
}

#[tokio::test(flavor = "multi_thread")]
async fn many_watchers_of_one_run_all_see_the_same() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let run_id = service.client.begin(&gate.long_plan(8)).await;
    let watchers = (0..20).map(|_| {
        let (client, run_id) = (service.client.clone(), run_id.clone());
        tokio::spawn(async move { client.events(&run_id, None).await.all().await })
    });
    let watchers: Vec<_> = watchers.collect();
    gate.open();
    service.client.until_ended(&run_id).await;
    let expected = recorded(&service, &run_id).await;
    for watcher in watchers {
        assert_eq!(seen(&watcher.await.unwrap()), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_goes_away_does_not_end_its_run() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let mut stream = post_and_watch(&service, "/v1/runs", &json!({ "plan": gate.plan("/hold") })).await;
    let run_id = run_id_of(&stream.until("tool_call_started").await[0]);
    drop(stream);
    // The same for one that only waits.
    let waiting = service.client.request("POST", "/v1/runs?wait=25s");
    let waiting = tokio::spawn(waiting.body(json!({ "plan": gate.plan("/hold") }).to_string()).send());
    gate.asked(2).await;
    waiting.abort();
    gate.open();
    let runs = service.client.get("/v1/runs").await.json();
    assert_eq!(runs["runs"].as_array().unwrap().len(), 2);
    for run in runs["runs"].as_array().unwrap() {
        let ended = service.client.until_ended(run["run_id"].as_str().unwrap()).await;
        assert_eq!(ended["status"], "succeeded");
    }
    assert_eq!(service.client.until_ended(&run_id).await["result"], "body");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_watcher_who_does_not_read_holds_nothing_up_and_misses_nothing() {
    let service = Service::with(&[("limits.print", "\"64MiB\"")], None).await;
    // Far more than the buffers between server and watcher hold.
    let plan = "function run()\n  local line = (\"x\"):rep(8000)\n  for _ = 1, 40 do\n    for _ = 1, 25 do print(line) end\n    \
                local made = transform_data({}, \"{{ 1 }}\", \"text\")\n    if made.error then error(made.error) end\n  end\n  return 1\nend";
    let mut stream = post_and_watch(&service, "/v1/runs", &json!({ "plan": plan })).await;
    let first = stream.next().await.unwrap();
    let run_id = run_id_of(&first);
    // Nothing is read until the run has ended.
    let run = service.client.until_ended(&run_id).await;
    assert_eq!(run["status"], "succeeded", "{}", run["error"]);
    let mut events = vec![first];
    events.extend(stream.all().await);
    let expected = recorded(&service, &run_id).await;
    assert!(expected.len() > 120, "{}", expected.len());
    assert_eq!(seen(&events), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_of_another_process_on_the_same_data_is_followed_and_ended_too() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let hosts = format!("[\"{}\"]", gate.host);
    // A second application over the same folder shares nothing with the service but the files.
    let other = open(service.folder.path(), &[("tools.fetch_url.allow_hosts", hosts.as_str())], None).await;
    let run_id = RunId::generate();
    let request = RunSpec {
        run_id: run_id.clone(),
        ..RunSpec::new(
            Work::Plan { name: "plan".to_owned(), source: gate.plan("/hold") },
            other.config().limits.clone(),
        )
    };
    let running = tokio::spawn(async move { other.run(request).await });
    gate.asked(1).await;
    let mut stream = service.client.events(run_id.as_str(), None).await;
    let mut events = stream.until("tool_call_started").await;
    let shown = service.client.get(&format!("/v1/runs/{run_id}")).await.json();
    assert_eq!((&shown["status"], &shown["under_way_here"]), (&json!("running"), &json!(false)));
    let answer = service.client.post(&format!("/v1/runs/{run_id}/cancel"), &json!({})).await;
    assert_eq!(answer.status, 202, "{}", answer.text);
    events.extend(stream.all().await);
    assert_eq!(running.await.unwrap().error().unwrap().code(), ErrorCode::Cancelled);
    assert_eq!(seen(&events), recorded(&service, run_id.as_str()).await);
    assert_eq!(events.last().unwrap().name, "run_cancelled");
}

/// A model that writes in pieces.
struct Typist;

#[async_trait]
impl LlmClient for Typist {
    async fn chat(
        &self,
        _request: &ChatRequest,
        progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply> {
        let text = "```lua\nfunction run(context)\n  return 7\nend\n```";
        let sent = LlmProgress::RequestSent { provider: "typist".into(), model: "one".into(), attempt: 1 };
        progress(sent);
        for piece in text.split_inclusive(' ') {
            progress(LlmProgress::Text(piece.to_owned()));
            tokio::task::yield_now().await;
        }
        Ok(ChatReply {
            text: text.to_owned(),
            usage: TokenUsage::default(),
            provider: "typist".to_owned(),
            model: "one".to_owned(),
            duration: std::time::Duration::ZERO,
            recorded: false,
        })
    }

    fn name(&self) -> String {
        "typist/one".to_owned()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn passing_model_text_is_streamed_without_an_id_and_not_replayed() {
    let service = Service::with(&[], Some(Arc::new(Typist))).await;
    // Often enough for a watcher that is late, once, to be seen.
    for _ in 0..15 {
        let events = post_and_watch(&service, "/v1/tasks", &json!({ "task": "seven" })).await.all().await;
        let text: Vec<&SentEvent> = events.iter().filter(|event| event.name == "llm_text").collect();
        assert!(!text.is_empty(), "{events:?}");
        assert!(text.iter().all(|event| event.id.is_none()));
        assert!(events.iter().all(|event| event.id.is_some() || event.name == "llm_text"));
        let answered = events.iter().position(|event| event.name == "llm_response_received").unwrap();
        let last_text = events.iter().rposition(|event| event.name == "llm_text").unwrap();
        assert!(last_text < answered, "text came after the answer it is part of");
        let run_id = run_id_of(&events[0]);
        assert_eq!(seen(&events), recorded(&service, &run_id).await);
        let replayed = service.client.events(&run_id, None).await.all().await;
        assert!(replayed.iter().all(|event| event.name != "llm_text"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn line_breaks_and_control_characters_stay_inside_their_event() {
    let service = Service::new().await;
    let text = "a\r\nid: 1\n\nevent: run_finished\ndata: {}\n\n\u{1b}[31m\u{2028}";
    let plan = "function run(context)\n  print(\"x\\n\\nevent: run_failed\\ndata: 1\\n\\n\\27[2J\\r\")\n  \
                return context\nend";
    let body = json!({ "plan": plan, "context": { text: "\n\ndata: 2\u{0}" } });
    let events = post_and_watch(&service, "/v1/runs", &body).await.all().await;
    let run_id = run_id_of(&events[0]);
    assert_eq!(seen(&events), recorded(&service, &run_id).await);
    assert_eq!(events.last().unwrap().data["result"], body["context"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_whose_end_cannot_be_recorded_does_not_leave_its_watcher_waiting() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let mut stream = post_and_watch(&service, "/v1/runs", &json!({ "plan": gate.plan("/hold") })).await;
    stream.until("tool_call_started").await;
    // From here on nothing can be written, and everything be read.
    let file = service.app.config().journal_path();
    let mut connection = SqliteConnection::connect(&format!("sqlite:{}", file.display())).await.unwrap();
    let refuse = "CREATE TRIGGER full BEFORE INSERT ON records BEGIN SELECT RAISE(ABORT, 'no room'); END";
    connection.execute(refuse).await.unwrap();
    gate.open();
    let last = stream.next().await.unwrap();
    assert_eq!(last.name, "stream_error", "{last:?}");
    assert_eq!(last.data["code"], "journal_unavailable");
    assert_eq!(last.id, None);
    assert!(stream.next().await.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_journal_that_cannot_be_read_any_more_ends_the_stream_with_the_reason() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let mut stream = post_and_watch(&service, "/v1/runs", &json!({ "plan": gate.plan("/hold") })).await;
    stream.until("tool_call_started").await;
    service.app.journal().close().await;
    gate.open();
    let last = stream.next().await.unwrap();
    assert_eq!((last.name.as_str(), &last.data["code"]), ("stream_error", &json!("journal_unavailable")));
    assert!(stream.next().await.is_none());
}
