//! The prompt: what it holds, and what is cut first.

use luaplan_base::{ErrorCode, Result, Value};
use luaplan_catalog::Catalog;
use luaplan_llm::count_tokens;

use super::super::{Planner, PlannerSettings, PlanningRequest, Prompt, ToolRules};
use super::{catalog, limits, settings};

const CONTEXT: &str =
    r#"{"since": "2025-06-01", "orders": [{"id": 1, "lines": [{"sku": {"code": "secret"}}]}]}"#;

fn compose(settings: &PlannerSettings, task: &str, catalog: &Catalog) -> Result<Prompt> {
    let context = Value::from_json_text(CONTEXT).unwrap();
    let limits = limits();
    let request = PlanningRequest::new(task, &context, catalog, &limits);
    Planner::prompt(settings, &request)
}

#[test]
fn the_prompt_holds_its_parts_in_order() {
    let prompt = compose(&settings(), "Sum up the orders.", &catalog()).unwrap();
    insta::assert_snapshot!(prompt.to_string());
    let names: Vec<&str> = prompt.budget.parts.iter().map(|part| part.name).collect();
    assert_eq!(names, ["rules", "library", "tools", "examples", "context", "task", "conversation"]);
    assert!(prompt.budget.trimmed.is_empty());
    assert!(!prompt.to_string().contains("secret"));
}

#[test]
fn without_tools_and_library_their_sections_say_so_by_absence() {
    let settings = PlannerSettings { library_stubs: "", ..settings() };
    let prompt = compose(&settings, "Count to ten.", &Catalog::default()).unwrap();
    assert!(!prompt.system.contains("## Library"));
    assert!(!prompt.system.contains("## Examples") && !prompt.user.contains("## Library"));
}

#[test]
fn the_least_critical_part_is_cut_first_and_rules_and_task_never() {
    let task = "Sum up the orders.";
    let whole = compose(&settings(), task, &catalog()).unwrap();
    let mut seen = Vec::new();
    let mut budget = whole.budget.used_tokens;
    let error = loop {
        let settings = PlannerSettings { prompt_tokens: budget - 1, ..settings() };
        let prompt = match compose(&settings, task, &catalog()) {
            Ok(prompt) => prompt,
            Err(error) => break error,
        };
        assert!(prompt.budget.used_tokens < budget);
        assert!(prompt.system.contains("Define `function run(context)"), "the rules stay");
        assert!(prompt.system.contains("function query_db(table, limit) end"), "the tools stay");
        assert!(prompt.user.contains(task), "the task stays");
        seen = prompt.budget.trimmed;
        budget = prompt.budget.used_tokens;
    };
    let order = [
        "example:retry_parallel",
        "library:declarations",
        "library:index",
        "context:depth 3",
        "context:depth 2",
        "context:depth 1",
        "tools:descriptions",
    ];
    assert_eq!(seen, order);
    assert_eq!(error.code(), ErrorCode::LlmContextOverflow);
    assert_eq!(error.limit(), Some(&(budget - 1).into()));
    assert_eq!(error.observed(), Some(&budget.into()));
}

#[test]
fn the_count_is_that_of_what_is_sent() {
    let prompt = compose(&settings(), "Sum up the orders.", &catalog()).unwrap();
    let sent = count_tokens(&prompt.system) + count_tokens(&prompt.user);
    assert!(prompt.budget.used_tokens.abs_diff(sent) < 20, "{sent} {:?}", prompt.budget);
}

#[test]
fn an_empty_task_is_refused() {
    let error = compose(&settings(), " \n", &catalog()).unwrap_err();
    assert_eq!(error.code(), ErrorCode::BadRequest);
}

#[test]
fn what_is_the_same_for_every_task_comes_first() {
    let shipped: Catalog = luaplan_catalog::builtin_manifests().unwrap().into_iter().collect();
    let first = compose(&settings(), "Sum up the orders.", &shipped).unwrap();
    let second = compose(&settings(), "Mail the users.", &shipped).unwrap();
    assert_eq!(first.system_stable_bytes, first.system.len());
    assert_eq!(first.system, second.system);
    assert_eq!((first.user_stable_bytes, second.user_stable_bytes), (0, 0), "there is no database");

    let tight = PlannerSettings { prompt_tokens: 1_800, ..settings() };
    let cut = compose(&tight, "Sum up the orders.", &shipped).unwrap();
    assert!(!cut.budget.tools_left_out.is_empty());
    let stable = &cut.system[..cut.system_stable_bytes];
    assert!(
        stable.contains("Rules of the sandbox") && !stable.contains("## Tools"),
        "tools are by the task here"
    );
}

#[test]
fn rules_of_tools_stand_with_the_tools_and_the_day_with_the_task() {
    let (catalog, limits, context) = (catalog(), limits(), Value::from_json_text("{}").unwrap());
    let rules =
        |tool: &str| ToolRules { tool: tool.to_owned(), rules: vec!["one".to_owned(), "two".to_owned()] };
    let request = PlanningRequest {
        task: "Sum up the orders.",
        context: &context,
        catalog: &catalog,
        databases: &[],
        database_notes: None,
        tool_rules: &[rules("query_db"), rules("send_email")],
        today: Some("Monday, 2026-11-23 (UTC)"),
        limits: &limits,
        notes: &[],
        samples: &[],
        past: None,
        revision: None,
        answered: &[],
        may_ask: false,
        is_autonomous: false,
    };
    let prompt = Planner::prompt(&settings(), &request).unwrap();
    assert!(prompt.system.contains("As they are set up here:\n- `query_db`: one; two."), "{}", prompt.system);
    assert!(!prompt.system.contains("send_email"), "only of tools that are shown");
    assert!(
        prompt.user.ends_with("Sum up the orders.\n\nToday is Monday, 2026-11-23 (UTC)."),
        "{}",
        prompt.user
    );
    assert!(!prompt.system.contains("2026-11-23"), "what is the same for every task holds no day");
}

#[test]
fn the_shipped_tools_library_and_examples_fit_the_usual_budget_whole() {
    let catalog: Catalog = luaplan_catalog::builtin_manifests().unwrap().into_iter().collect();
    let settings = PlannerSettings { library_stubs: luaplan_vm::LIBRARY_STUBS, ..settings() };
    let prompt = compose(&settings, "Sum up the orders.", &catalog).unwrap();
    assert!(prompt.budget.trimmed.is_empty(), "{:?}", prompt.budget);
    assert!(prompt.budget.used_tokens < settings.prompt_tokens / 2, "{:?}", prompt.budget);
}
