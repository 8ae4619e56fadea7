//! Prompts with hundreds of tools: they keep to their budget and show the tool the task needs.
//!
//! `cargo test --test it planner::many_tools -- --nocapture` prints how often they do.

use std::path::Path;

use luaplan::base::{ErrorCode, LimitProfile, Value};
use luaplan::catalog::{Catalog, read_manifest};
use luaplan::planner::{Planner, PlannerSettings, PlanningRequest, Prompt};
use luaplan::sandbox::LIBRARY_STUBS;
use serde_json::json;

use super::settings;

fn case(name: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/many_tools").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// Five hundred tools: four verbs for each thing of each service.
pub(super) fn catalog() -> Catalog {
    let verbs = [
        ("list", "Lists and finds", "read", "filter", "only those that fit"),
        ("create", "Makes a new", "write", "fields", "what it holds"),
        ("update", "Changes a", "write", "id", "which one"),
        ("delete", "Removes a", "write", "id", "which one"),
    ];
    let mut tools = Vec::new();
    for line in case("services.txt") {
        let parts: Vec<&str> = line.split('|').map(str::trim).collect();
        for thing in parts[2].split(';') {
            let (thing, about) = thing.trim().split_once(": ").unwrap();
            for (verb, says, effect, parameter, meaning) in verbs {
                let words = thing.replace('_', " ");
                let manifest = format!(
                    "name = \"{}.{verb}_{thing}\"\n\
                     description = \"{says} {words} in {}: {about}. Fails with `not_found` where there is none.\"\n\
                     effect = \"{effect}\"\nkind = \"http\"\n[params]\ntype = \"object\"\nadditionalProperties = false\n\
                     [params.properties.{parameter}]\ntype = \"string\"\ndescription = \"{meaning}\"\n\
                     [params.properties.limit]\ntype = \"integer\"\ndescription = \"at most so many\"\n\
                     [result]\ntype = \"array\"\nitems = {{ type = \"object\" }}\n\
                     [settings]\nurl = \"https://example.com/\"\nmethod = \"GET\"\n",
                    parts[0], parts[1]
                );
                tools.push(read_manifest(&manifest, "tool.toml").unwrap());
            }
        }
    }
    tools.into_iter().collect()
}

fn first(count: usize) -> Catalog {
    catalog().iter().take(count).map(|spec| (**spec).clone()).collect()
}

fn prompt(
    task: &str,
    context: serde_json::Value,
    catalog: &Catalog,
    prompt_tokens: u64,
) -> luaplan::base::Result<Prompt> {
    let limits = LimitProfile::Standard.limits();
    let context = Value::from_json(context).unwrap();
    let settings = PlannerSettings { prompt_tokens, library_stubs: LIBRARY_STUBS, ..settings() };
    Planner::prompt(&settings, &PlanningRequest::new(task, &context, catalog, &limits))
}

fn shows(prompt: &Prompt, tool: &str) -> bool {
    prompt.system.contains(&format!("\nfunction {tool}("))
}

#[test]
#[expect(clippy::print_stdout, reason = "the recall is what this test measures")]
fn of_five_hundred_tools_the_one_a_task_needs_is_shown_and_the_budget_is_held() {
    let catalog = catalog();
    assert_eq!(catalog.len(), 500);
    let tasks = case("tasks.txt");
    assert_eq!(tasks.len(), 20);
    for (budget, floor) in [(16_000, 20), (8_000, 20), (4_000, 18)] {
        let mut missing = Vec::new();
        let mut shown_of = 0;
        for line in &tasks {
            let (task, tool) = line.split_once(" | ").unwrap();
            assert!(catalog.get(tool).is_some(), "{tool}");
            let prompt = prompt(task, json!({}), &catalog, budget).unwrap();
            assert!(prompt.budget.used_tokens <= budget, "{:?}", prompt.budget.parts);
            let left_out = prompt.budget.tools_left_out.len();
            shown_of = catalog.len() - left_out;
            assert!(prompt.budget.trimmed[0] == format!("tools:{left_out} left out") || budget < 8_000);
            assert!(prompt.system.contains(&format!("{shown_of} of 500 tools are declared here")), "{task}");
            if !shows(&prompt, tool) {
                missing.push(format!("{tool} for: {task}"));
            }
        }
        println!(
            "| {budget} | {shown_of} | {} of {} | {} |",
            tasks.len() - missing.len(),
            tasks.len(),
            missing.join("; ")
        );
        assert!(tasks.len() - missing.len() >= floor, "{budget}: {missing:#?}");
    }
}

#[test]
fn few_tools_are_all_shown_and_many_leave_room_for_the_rest() {
    for count in [5, 50] {
        let prompt =
            prompt("Which invoices are unpaid?", json!({"month": "2025-06"}), &first(count), 16_000).unwrap();
        assert_eq!((prompt.budget.trimmed.len(), prompt.budget.tools_left_out.len()), (0, 0), "{count}");
        assert!(!prompt.system.contains("tools are declared here"));
    }
    let prompt =
        prompt("Which invoices are unpaid?", json!({"month": "2025-06"}), &catalog(), 16_000).unwrap();
    assert_eq!(prompt.budget.trimmed.len(), 1, "library and context stay whole: {:?}", prompt.budget.trimmed);
    assert!(prompt.system.contains("mean(list, key?)"));
}

#[test]
fn tools_named_by_task_context_or_an_earlier_plan_stay() {
    let catalog = catalog();
    let task = "Which invoices are unpaid? Then use fleet.delete_fine.";
    let context = json!({"steps": ["ocr.list_barcode"], "training.list_badge": true});
    let prompt = prompt(task, context, &catalog, 5_000).unwrap();
    for tool in ["billing.list_invoice", "fleet.delete_fine", "ocr.list_barcode", "training.list_badge"] {
        assert!(shows(&prompt, tool), "{tool} is not shown");
        assert!(!prompt.budget.tools_left_out.iter().any(|name| name == tool));
    }
    assert!(!shows(&prompt, "hr.list_position"));
    assert!(
        !prompt.system.contains("steps") || !prompt.user.contains("\"ocr.list_barcode\""),
        "values stay unseen"
    );
}

#[test]
fn the_least_relevant_go_first_and_the_order_is_always_the_same() {
    let catalog = catalog();
    let mut backwards: Vec<_> = catalog.iter().map(|spec| (**spec).clone()).collect();
    backwards.reverse();
    let backwards: Catalog = backwards.into_iter().collect();
    let task = "Which invoices were not paid by their due date?";
    let left_out =
        |catalog: &Catalog, budget| prompt(task, json!({}), catalog, budget).unwrap().budget.tools_left_out;
    let (roomy, tight) = (left_out(&catalog, 16_000), left_out(&catalog, 6_000));
    assert!(tight.len() > roomy.len() && tight.starts_with(&roomy), "what goes first goes at any budget");
    assert_eq!(roomy, left_out(&backwards, 16_000));
    let error = prompt(task, json!({}), &catalog, 900).unwrap_err();
    assert_eq!(error.code(), ErrorCode::LlmContextOverflow);
}
