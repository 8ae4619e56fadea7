//! How large prompts are, what of them is the same from task to task, and whether they show what good plans use.
//!
//! `cargo test --test it planner::prompt_sizes -- --nocapture` prints the figures.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use luaplan::base::{LimitProfile, Value};
use luaplan::catalog::{
    Catalog, ColumnSchema, DatabaseSchema, TableSchema, ToolSpec, builtin_manifests, read_manifest,
};
use luaplan::llm::count_tokens;
use luaplan::planner::{Planner, PlannerSettings, PlanningRequest, Prompt};
use luaplan::sandbox::LIBRARY_STUBS;
use serde_json::{Value as Json, json};

use super::settings;

/// The most tokens of a prompt with one tool, and with ten, without databases.
const ONE_TOOL_MAX: u64 = 2_500;
const TEN_TOOLS_MAX: u64 = 4_000;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// A task with a plan that does it.
struct Task {
    name: String,
    words: String,
    context: Json,
    plan: String,
}

/// The example plans: their first comment says what they do.
fn examples() -> Vec<Task> {
    let mut folders: Vec<PathBuf> = std::fs::read_dir(root().join("examples"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|folder| folder.join("plan.lua").is_file())
        .collect();
    folders.sort();
    let task = |folder: PathBuf| {
        let plan = std::fs::read_to_string(folder.join("plan.lua")).unwrap();
        let said: Vec<&str> = plan.lines().map_while(|line| line.strip_prefix("-- ")).collect();
        let told =
            said.iter().take_while(|line| !line.starts_with("Context:") && !line.starts_with("Tools:"));
        let words = told.copied().collect::<Vec<_>>().join(" ");
        let context =
            std::fs::read_to_string(folder.join("context.json")).unwrap_or_else(|_| "{}".to_owned());
        Task {
            name: folder.file_name().unwrap().to_string_lossy().into_owned(),
            words: if words.is_empty() { "Mail a summary of all users over 30.".to_owned() } else { words },
            context: serde_json::from_str(&context).unwrap(),
            plan,
        }
    };
    folders.into_iter().map(task).collect()
}

/// The tasks of bench/tokens with their plans.
fn benches() -> Vec<Task> {
    let listed = text("bench/tokens/tasks.py");
    let from = listed.find("\nTASKS = [").unwrap();
    listed[from..]
        .split("\n    (\"")
        .skip(1)
        .map(|entry| {
            let name = entry.split('"').next().unwrap();
            let words = entry.split_once("],").unwrap().1.replace(['"', '\n'], " ");
            let plan = text(&format!("bench/tokens/plans/{name}.lua"));
            Task { name: name.to_owned(), words, context: json!({}), plan }
        })
        .collect()
}

fn builtins() -> Vec<ToolSpec> {
    builtin_manifests().unwrap()
}

/// The built-in tools and one by a manifest.
fn ten_tools() -> Catalog {
    let mut tools = builtins();
    let file = "examples/own_tools/luaplan-tools/stock_levels.toml";
    tools.push(read_manifest(&text(file), Path::new(file).file_name().unwrap().to_str().unwrap()).unwrap());
    assert_eq!(tools.len(), 10);
    tools.into_iter().collect()
}

fn compose(task: &Task, catalog: &Catalog, databases: &[DatabaseSchema]) -> Prompt {
    let limits = LimitProfile::Standard.limits();
    let context = Value::from_json(task.context.clone()).unwrap();
    let settings = PlannerSettings { library_stubs: LIBRARY_STUBS, ..settings() };
    let request = PlanningRequest {
        task: &task.words,
        context: &context,
        catalog,
        databases,
        database_notes: None,
        tool_rules: &[],
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
    Planner::prompt(&settings, &request).unwrap()
}

fn tokens(prompt: &Prompt) -> u64 {
    count_tokens(&prompt.system) + count_tokens(&prompt.user)
}

#[test]
#[expect(clippy::print_stdout, reason = "the sizes are what this test measures")]
fn a_prompt_for_one_tool_and_one_for_ten_stay_small_for_every_example_task() {
    let tasks: Vec<Task> = examples().into_iter().chain(benches()).collect();
    assert!(tasks.len() >= 20, "{}", tasks.len());
    let (mut one_max, mut ten_max) = (0, 0);
    for task in &tasks {
        for tool in builtins() {
            let name = tool.name.clone();
            let prompt = compose(task, &[tool].into_iter().collect(), &[]);
            assert!(tokens(&prompt) <= ONE_TOOL_MAX, "{} with {name}: {:?}", task.name, prompt.budget.parts);
            one_max = one_max.max(tokens(&prompt));
        }
        let prompt = compose(task, &ten_tools(), &[]);
        assert!(prompt.budget.trimmed.is_empty());
        assert!(tokens(&prompt) <= TEN_TOOLS_MAX, "{}: {:?}", task.name, prompt.budget.parts);
        ten_max = ten_max.max(tokens(&prompt));
    }
    println!("| {} tasks | one tool: at most {one_max} | ten tools: at most {ten_max} |", tasks.len());
}

#[test]
fn twenty_tasks_share_every_byte_before_what_is_theirs() {
    let listed = text("tests/cases/many_tools/tasks.txt");
    let tasks: Vec<Task> = listed
        .lines()
        .filter(|line| !line.starts_with('#'))
        .enumerate()
        .map(|(at, line)| Task {
            name: at.to_string(),
            words: line.split_once(" | ").unwrap().0.to_owned(),
            context: json!({ "number": at, format!("key_{at}"): [at] }),
            plan: String::new(),
        })
        .collect();
    assert_eq!(tasks.len(), 20);
    let column =
        |name: &str| ColumnSchema { name: name.into(), type_name: "bigint".into(), ..Default::default() };
    let table = |name: &str| TableSchema {
        name: name.into(),
        columns: vec![column("id"), column("amount")],
        ..Default::default()
    };
    let databases = [DatabaseSchema {
        name: "main".into(),
        product: "PostgreSQL 15.4".into(),
        is_default: true,
        is_writable: false,
        tables: vec![table("invoices"), table("parcels")],
    }];
    let prompts: Vec<Prompt> = tasks.iter().map(|task| compose(task, &ten_tools(), &databases)).collect();
    let first = &prompts[0];
    assert_eq!(first.system_stable_bytes, first.system.len());
    assert!(first.user[..first.user_stable_bytes].contains("parcels(id bigint, amount bigint)"));
    for prompt in &prompts {
        assert_eq!(prompt.system, first.system);
        assert_eq!(prompt.user_stable_bytes, first.user_stable_bytes);
        assert_eq!(prompt.user[..prompt.user_stable_bytes], first.user[..first.user_stable_bytes]);
    }
    let users: BTreeSet<&str> = prompts.iter().map(|prompt| prompt.user.as_str()).collect();
    assert_eq!(users.len(), 20, "what follows is by the task");

    // With more tools than fit, what comes before them is still the same.
    let many = super::many_tools::catalog();
    let prompts: Vec<Prompt> = tasks.iter().map(|task| compose(task, &many, &[])).collect();
    let stable = &prompts[0].system[..prompts[0].system_stable_bytes];
    assert!(stable.contains("## Library") && !stable.contains("## Tools"));
    assert!(prompts.iter().all(|prompt| prompt.system.starts_with(stable)));
}

/// The library's functions that a plan calls.
fn used(plan: &str) -> BTreeSet<&'static str> {
    let functions =
        LIBRARY_STUBS.lines().filter_map(|line| line.strip_prefix("function ")?.split('(').next());
    let is_called = |name: &str| {
        plan.match_indices(&format!("{name}("))
            .any(|(at, _)| !plan[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.'))
    };
    functions.filter(|name| is_called(name)).collect()
}

#[test]
#[expect(clippy::print_stdout, reason = "the share is what this test measures")]
fn the_library_functions_of_right_plans_are_shown_most_of_them_in_full() {
    let (mut all, mut in_full) = (0, 0);
    for task in examples().into_iter().chain(benches()) {
        let prompt = compose(&task, &ten_tools(), &[]);
        let used = used(&task.plan);
        let declared: BTreeSet<&str> =
            used.iter().copied().filter(|name| prompt.user.contains(&format!("\n{name}("))).collect();
        for name in &used {
            let (library, member) = name.split_once('.').unwrap();
            let line =
                prompt.system.lines().find(|line| line.starts_with(&format!("- `{library}`"))).unwrap();
            assert!(line.contains(&format!(" {member}(")), "{}: {name} is not in the prompt", task.name);
        }
        let others: Vec<&&str> = used.difference(&declared).collect();
        println!("| {} | {} | {} | {others:?} |", task.name, used.len(), declared.len());
        (all, in_full) = (all + used.len(), in_full + declared.len());
    }
    println!("| all | {all} | {in_full} |");
    assert!(all >= 40, "{all}");
    assert!(in_full * 2 >= all, "{in_full} of {all}");
}
