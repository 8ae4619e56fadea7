//! Named steps on real parts: what is on record of them, and what people and programs see while they run.

use luaplan::app::ReplayRequest;
use luaplan::base::StepState;
use luaplan::journal::{EventBody, JournalRead as _, RunState, RunStatus};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::app_parts::Bench;
use crate::http_support::{Gate, Service};

const PLAN: &str = r#"function run(context)
  local users = step("load users", function()
    print("before")
    local rows = query_db{ table = "users" }
    print("after")
    return rows
  end)
  local missing = step("load missing", function() return query_db{ table = "missing" } end, { retries = 2 })
  local told = step("tell", function()
    return send_email("admin@company.com", "hello", "never")
  end, { depends_on = { "load users", "load missing" } })
  if context.never then
    step("later", function() return 1 end)
  end
  return { users = #users, missing = missing.cause, told = told.code }
end"#;

fn states(state: &RunState) -> Vec<String> {
    state.steps.iter().map(|step| format!("{} {}", step.name, step.state)).collect()
}

#[tokio::test]
async fn each_change_of_a_step_is_on_record_in_the_order_of_the_run() {
    let bench = Bench::new().await;
    let outcome = bench.run(PLAN).await;
    assert_eq!(outcome.status(), RunStatus::Succeeded, "{:?}", outcome.result);
    let told: Vec<String> = bench
        .records(&outcome.run_id)
        .await
        .iter()
        .filter_map(|record| match &record.event.body {
            EventBody::PlanAccepted { steps, .. } => Some(
                steps.iter().map(|step| format!("{}@{}", step.name, step.line)).collect::<Vec<_>>().join(" "),
            ),
            EventBody::StepStarted { step, depends_on, .. } => Some(format!("{step} started {depends_on:?}")),
            EventBody::StepFinished { step, state, code, .. } => Some(format!("{step} {state} {code:?}")),
            EventBody::Printed { text } => Some(format!("printed {}", text.trim())),
            EventBody::ToolCallStarted { call_id, tool, .. } => Some(format!("call {call_id} {tool}")),
            _ => None,
        })
        .collect();
    assert_eq!(
        told,
        [
            "load users@2 load missing@8 tell@9 later@13",
            "load users started []",
            "printed before",
            "call 1 query_db",
            "printed after",
            "load users complete None",
            "load missing started []",
            "call 2 query_db",
            "load missing failed Some(\"query_failed\")",
            "tell skipped Some(\"step_skipped\")",
        ]
    );
    let state = bench.app.journal().run_state(&outcome.run_id).await.unwrap().unwrap();
    assert_eq!(
        states(&state),
        ["load users complete", "load missing failed", "tell skipped", "later pending"]
    );
    assert_eq!(state.steps[2].depends_on, ["load users", "load missing"]);
    assert!(state.steps[0].started_at.is_some() && state.steps[0].ended_at.is_some());
    assert_eq!(state.steps[3].started_at, None);
    let json = outcome.to_json();
    assert_eq!(json["steps"][0], json!({ "name": "load users", "state": "complete", "attempts": 1 }));
    assert_eq!(json["steps"][1]["code"], "query_failed");
    assert_eq!(json["steps"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn a_run_with_steps_replays_the_same_and_a_run_without_writes_nothing_new() {
    let bench = Bench::new().await;
    let outcome = bench.run(PLAN).await;
    let records = bench.records(&outcome.run_id).await.len();
    let request =
        ReplayRequest { run_id: outcome.run_id.clone(), with: None, cancel: CancellationToken::new() };
    let report = bench.app.runs().replay(request).await.unwrap();
    assert!(report.same, "{report:#?}");
    assert_eq!(bench.records(&outcome.run_id).await.len(), records);

    let plain = bench.run("function run() return 1 end").await;
    let written = serde_json::to_string(&bench.records(&plain.run_id).await).unwrap();
    assert!(!written.contains("step"), "{written}");
    assert_eq!(plain.to_json().get("steps"), None);
}

#[test]
fn steps_are_the_same_in_worker_processes_and_on_both_engines() {
    let few = "function run()\n  local a = step('a', function() error('no') end, {retries = 1})\n  \
               local b = step('b', function() return 1 end, {depends_on = 'a'})\n  \
               return {a.code, b.code, step('c', function() return 3 end)}\nend";
    let many = "function run() for i = 1, 10000 do pcall(step, 's' .. i, function() end) end return 1 end";
    let folder = tempfile::tempdir().unwrap();
    let run = |source: &str, engine: &str, isolation: &str| -> Json {
        std::fs::write(folder.path().join("plan.lua"), source).unwrap();
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_luaplan"));
        command.current_dir(folder.path()).args(["run", "plan.lua", "--json", "--engine", engine]);
        let output = command.args(["--isolation", isolation]).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let here = run(few, "mlua", "in-process");
    assert_eq!(here["result"], json!(["step_failed", "step_skipped", 3]), "{here}");
    assert_eq!(here["steps"][0]["attempts"], 2);
    for (engine, isolation) in [("mlua", "in-process"), ("mlua", "process"), ("piccolo", "process")] {
        let there = run(few, engine, isolation);
        assert_eq!((&there["steps"], &there["result"]), (&here["steps"], &here["result"]), "{engine}");
        let ended = run(many, engine, isolation);
        assert_eq!(ended["error"]["code"], "limit_steps", "{engine} {isolation}");
        assert_eq!(ended["steps"].as_array().unwrap().len(), 256);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_shows_the_steps_while_they_run_and_in_the_graph() {
    let gate = Gate::new().await;
    let service = Service::beside(&gate, &[]).await;
    let plan = format!(
        "function run(context)\n  step('count', function() return 1 end)\n  \
         local page = step('load', function() return fetch_url('http://{}/hold') end, {{depends_on = {{'count'}}}})\n  \
         return step('show', function() return #page end, {{depends_on = {{'load'}}}})\nend",
        gate.plan("").split("http://").nth(1).unwrap().split('"').next().unwrap()
    );
    let run_id = service.client.begin(&plan).await;
    gate.asked(1).await;
    let path = format!("/v1/runs/{run_id}");
    let shown = |report: &Json| -> Vec<String> {
        let steps = report["steps"].as_array().unwrap();
        steps
            .iter()
            .map(|step| format!("{} {}", step["name"].as_str().unwrap(), step["state"].as_str().unwrap()))
            .collect()
    };
    let mut report = service.client.get(&path).await.json();
    // Steps are recorded a moment later, as what is printed.
    while shown(&report)[1] == "load pending" {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        report = service.client.get(&path).await.json();
    }
    assert_eq!(shown(&report), ["count complete", "load running", "show pending"], "{report}");
    let graph = service.client.get(&format!("{path}/graph?format=json")).await.json();
    let nodes = graph["nodes"].as_array().unwrap();
    let states: Vec<&Json> =
        nodes.iter().filter(|node| node["kind"] == "step").map(|node| &node["state"]).collect();
    assert_eq!(states, ["complete", "running", "pending"]);
    let call = nodes.iter().find(|node| node["kind"] == "call").unwrap();
    assert_eq!((&call["name"], &call["step"]), (&json!("fetch_url"), &json!("load")));
    assert!(
        graph["edges"]
            .as_array()
            .unwrap()
            .contains(&json!({ "from": "step1", "to": "step2", "kind": "order" }))
    );
    gate.open();
    let ended = service.client.until_ended(&run_id).await;
    assert_eq!(shown(&ended), ["count complete", "load complete", "show complete"], "{ended}");
    let events = service.client.events(&run_id, None).await.all().await;
    let finished: Vec<&Json> = events
        .iter()
        .filter(|event| event.name == "step_finished")
        .map(|event| &event.data["step"])
        .collect();
    assert_eq!(finished, ["count", "load", "show"]);
}

#[tokio::test]
async fn a_secret_in_a_name_is_redacted_wherever_the_name_stands() {
    let bench = Bench::new().await;
    let secret = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789";
    let plan = "function run(context)\n  local key = context.key\n  step('use ' .. key, function() return 1 end)\n  \
         local second = step('again ' .. key, function() error('no ' .. key) end, {depends_on = 'use ' .. key})\n  \
         return second.code\nend";
    let context = luaplan::base::Value::from_iter([("key", secret)]);
    let outcome = bench.run_with(plan, Some(context), bench.limits()).await;
    assert_eq!(outcome.steps.len(), 2);
    assert_eq!(outcome.steps[1].state, StepState::Failed);
    let written = serde_json::to_string(&bench.records(&outcome.run_id).await).unwrap();
    assert!(written.contains("step_finished") && !written.contains(secret), "{written}");
    assert!(!outcome.to_json().to_string().contains(secret));
}
