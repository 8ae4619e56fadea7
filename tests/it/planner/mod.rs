//! Planning over the wire: a model behind HTTP, the real check, the real journal.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

pub(crate) mod canary;
mod candidates;
mod many_tools;
mod prompt_sizes;
mod prompts;
mod repair_corpus;
mod repair_double;
mod verdicts;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use luaplan::base::{
    ErrorCode, LimitName, LimitProfile, Result, RunId, SeededRandomness, SystemClock, Value,
};
use luaplan::bus::RunBudget;
use luaplan::catalog::{Catalog, read_manifest};
use luaplan::journal::{EventBody, JournalRead as _, MemoryJournal, RecordFilter, Redactor, RunLog};
use luaplan::llm::{LlmClient, LlmSettings, Provider, ProviderKeys, RecordedClient};
use luaplan::planner::{Planner, PlannerSettings, PlanningRequest, Proposal};
use serde_json::json;

use crate::llm::server::{Answer, Server, client, keys};
use crate::support::Part;

const GOOD: &str = "function run(context)\n  local rows = find_rows{limit = 3}\n  if rows.error then\n    \
                    error(rows.error)\n  end\n  return rows\nend\n";
const BAD: &str = "function run(context)\n  return find_rows{limt = 3}\nend\n";

fn catalog() -> Catalog {
    let manifest = r#"
        name = "find_rows"
        description = "Finds rows."
        effect = "read"
        kind = "builtin"
        [params]
        type = "object"
        additionalProperties = false
        [params.properties.limit]
        type = "integer"
        [result]
        type = "array"
        items = { type = "object" }
    "#;
    [read_manifest(manifest, "find_rows.toml").unwrap()].into_iter().collect()
}

/// A streamed answer of the OpenAI protocol, its text in pieces.
fn streamed(text: &str) -> Answer {
    let mut frames = String::new();
    let mut push = |frame: serde_json::Value| frames.push_str(&format!("data: {frame}\n\n"));
    let characters: Vec<char> = text.chars().collect();
    for piece in characters.chunks(16) {
        let content: String = piece.iter().collect();
        push(json!({"choices": [{"index": 0, "delta": {"content": content}, "finish_reason": null}]}));
    }
    push(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}));
    push(
        json!({"choices": [], "usage": {"prompt_tokens": 900, "completion_tokens": 80, "total_tokens": 980}}),
    );
    Answer::text("text/event-stream", &(frames + "data: [DONE]\n\n"))
}

struct Outcome {
    result: Result<Proposal>,
    events: Vec<EventBody>,
    streamed: String,
    tokens: u64,
}

impl Outcome {
    fn names(&self) -> Vec<&'static str> {
        self.events.iter().map(EventBody::name).collect()
    }
}

async fn plan(client: Arc<dyn LlmClient>, settings: PlannerSettings) -> Outcome {
    let journal = Arc::new(MemoryJournal::default());
    let streamed = Arc::new(Mutex::new(String::new()));
    let heard = Arc::clone(&streamed);
    let log = RunLog::new(
        RunId::generate(),
        Arc::clone(&journal) as _,
        Arc::new(SystemClock),
        Arc::new(SeededRandomness::new(3)),
        Arc::new(Redactor::default()),
        vec![Arc::new(move |event, _| {
            if let EventBody::LlmText { text } = &event.body {
                heard.lock().unwrap().push_str(text);
            }
        })],
    );
    let limits = LimitProfile::Standard.limits();
    let budget = RunBudget::new(limits.clone(), 0);
    let (context, catalog) = (Value::from_json_text(r#"{"n": 1}"#).unwrap(), catalog());
    let request = PlanningRequest::new("Find three rows.", &context, &catalog, &limits);
    let check = |source: &str| luaplan::plan::check(source, "plan", &catalog, &limits);
    let result = Planner::new(client, settings).plan(&request, &check, &log, &budget).await;
    let records = journal.records(RecordFilter::default()).await.unwrap();
    let streamed = streamed.lock().unwrap().clone();
    Outcome {
        result,
        events: records.into_iter().map(|record| record.event.body).collect(),
        streamed,
        tokens: budget.used(LimitName::LlmTokens),
    }
}

fn settings() -> PlannerSettings {
    PlannerSettings {
        prompt_tokens: 16_000,
        output_tokens: 4_096,
        repair_rounds_max: PlannerSettings::REPAIR_ROUNDS_MAX,
        has_reviewer: false,
        library_stubs: "",
    }
}

#[tokio::test]
async fn a_task_becomes_a_checked_plan_after_a_retry_and_a_repair() {
    let structured = json!({"plan": GOOD, "explanation": "Finds three rows."}).to_string();
    let server = Server::start([
        Answer::case(500, "openai/500.json"),
        streamed(&format!("```lua\n{BAD}```")),
        streamed(&structured),
    ])
    .await;
    let client = Arc::new(client(&server.settings(Provider::OpenAi), &keys()));
    let outcome = plan(client, settings()).await;
    let expected = [
        "prompt_budget_computed",
        "prompt_composed",
        "llm_request_sent",
        "llm_retry_scheduled",
        "llm_request_sent",
        "llm_response_received",
        "plan_proposed",
        "plan_checked",
        "repair_round",
        "prompt_budget_computed",
        "prompt_composed",
        "llm_request_sent",
        "llm_response_received",
        "plan_proposed",
        "plan_checked",
    ];
    assert_eq!(outcome.names(), expected);
    let proposal = outcome.result.as_ref().unwrap();
    assert_eq!(proposal.plan.source(), GOOD);
    assert_eq!(proposal.explanation.as_deref(), Some("Finds three rows."));
    assert_eq!((proposal.rounds, proposal.recorded), (1, false));
    assert_eq!(outcome.tokens, 2 * 980);
    assert!(outcome.streamed.contains("limt") && outcome.streamed.ends_with(&structured));
    let asked = server.asked();
    let repair = asked[2].body["messages"][3]["content"].as_str().unwrap();
    assert!(repair.contains("plan_bad_argument") && repair.contains("limt"), "{repair}");
    assert!(
        asked[0].body["messages"][0]["content"].as_str().unwrap().contains("function find_rows(limit) end")
    );
}

#[tokio::test]
async fn a_recorded_answer_is_planned_like_any_other_and_says_so() {
    let replies = json!([{"match": "Find three rows.", "text": GOOD}]).to_string();
    let client = Arc::new(RecordedClient::from_json("demo", &replies).unwrap());
    let proposal = plan(client, settings()).await.result.unwrap();
    assert!(proposal.recorded);
    assert_eq!(proposal.model, "recorded/demo");
}

#[tokio::test]
async fn a_failure_of_the_provider_is_journaled_and_ends_planning() {
    let server = Server::start([Answer::case(200, "openai/refusal.sse")]).await;
    let client = Arc::new(client(&server.settings(Provider::OpenAi), &keys()));
    let outcome = plan(client, settings()).await;
    assert_eq!(outcome.result.as_ref().unwrap_err().code(), ErrorCode::LlmRefused);
    let expected = ["prompt_budget_computed", "prompt_composed", "llm_request_sent", "llm_request_failed"];
    assert_eq!(outcome.names(), expected);
}

#[tokio::test]
async fn a_real_small_model_ends_in_a_plan_or_in_a_coded_error_with_its_rounds() {
    let Some(url) = Part::Llm.place("plans with a real model") else { return };
    let model = LlmSettings {
        base_url: Some(url),
        temperature: Some(0.0),
        timeout: Duration::from_secs(120),
        ..LlmSettings::new(Provider::OpenAi, "smollm2-135m-instruct")
    };
    let client = Arc::new(client(&model, &ProviderKeys::default()));
    let small =
        PlannerSettings { prompt_tokens: 2_500, output_tokens: 120, repair_rounds_max: 1, ..settings() };
    let outcome = plan(client, small).await;
    // The model knows no useful Lua: what counts is that the loop is bounded and ends with a reason.
    if let Err(error) = &outcome.result {
        let known = [ErrorCode::CheckRefused, ErrorCode::LlmNoProgram, ErrorCode::LlmCollapsed];
        assert!(known.contains(&error.code()), "{error:?}");
        let responses = outcome.names().iter().filter(|name| **name == "llm_response_received").count();
        assert_eq!(responses, 2);
    }
    assert!(outcome.tokens > 500, "{}", outcome.tokens);
}
