//! Twenty prompts as files: `NAME.json` says for what, `NAME.md` is what `--print-prompt` shows.
//!
//! What is the same in all of them (the rules, the functions of the library by name) is shown by its file.
//! `LUAPLAN_TEST_BLESS=1` writes the files anew.

use std::path::{Path, PathBuf};

use luaplan::base::{LimitProfile, Value};
use luaplan::catalog::{Catalog, builtin_manifests};
use luaplan::planner::{PastCall, PastEnd, PastRun, Planner, PlannerSettings, PlanningRequest, Prompt};
use luaplan::sandbox::LIBRARY_STUBS;
use serde_json::{Value as Json, json};

use super::{many_tools, settings};

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn catalog(wanted: &Json) -> Catalog {
    if wanted == "many" {
        return many_tools::catalog();
    }
    let wanted: Vec<&str> = wanted.as_array().unwrap().iter().filter_map(Json::as_str).collect();
    builtin_manifests().unwrap().into_iter().filter(|spec| wanted.contains(&spec.name.as_str())).collect()
}

fn text(value: &Json, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn line(value: &Json) -> Option<u32> {
    value["line"].as_u64().and_then(|line| u32::try_from(line).ok())
}

fn failed(case: &Json) -> Option<PastRun> {
    let failed = case.get("failed")?;
    let past = |call: &Json| PastCall {
        tool: text(call, "tool"),
        line: line(call),
        code: call["code"].as_str().map(str::to_owned),
        has_effect: call["has_effect"] == true,
        ..PastCall::default()
    };
    Some(PastRun {
        source: text(failed, "source"),
        end: PastEnd::Failed {
            code: text(failed, "code").parse().unwrap(),
            message: text(failed, "message"),
            line: line(failed),
            limit: failed["limit"].as_array().map(|pair| {
                let side = |index: usize| pair[index].as_str().unwrap_or_default().to_owned();
                (side(0), side(1))
            }),
        },
        calls: failed["calls"].as_array().unwrap().iter().map(past).collect(),
        earlier: Vec::new(),
        shares_data: false,
    })
}

fn prompt(case: &Json) -> Prompt {
    let profile: LimitProfile = case["profile"].as_str().unwrap_or("standard").parse().unwrap();
    let (context, limits) = (Value::from_json(case["context"].clone()).unwrap(), profile.limits());
    let (catalog, failed) = (catalog(&case["tools"]), failed(case));
    let settings = PlannerSettings {
        prompt_tokens: case["prompt_tokens"].as_u64().unwrap_or(16_000),
        library_stubs: LIBRARY_STUBS,
        ..settings()
    };
    let request = PlanningRequest {
        task: case["task"].as_str().unwrap(),
        context: &context,
        catalog: &catalog,
        databases: &[],
        database_notes: None,
        tool_rules: &[],
        today: None,
        limits: &limits,
        notes: &[],
        samples: &[],
        past: failed.as_ref(),
        revision: None,
        answered: &[],
        may_ask: false,
        is_autonomous: false,
    };
    Planner::prompt(&settings, &request).unwrap()
}

/// The prompt with what all prompts share shown by its name.
fn shown(prompt: &Prompt) -> String {
    let mut text = prompt.to_string();
    let rules = std::fs::read_to_string(root().join("src/planner/rules.md")).unwrap();
    assert!(text.contains(rules.trim_end()), "the rules are never cut");
    text = text.replace(rules.trim_end(), "[src/planner/rules.md]");
    if let Some(library) = library(&prompt.system) {
        text = text.replace(library, "[tests/cases/prompts/library.txt]");
    }
    let budget = &prompt.budget;
    let parts: Vec<String> =
        budget.parts.iter().map(|part| format!("{} {}", part.name, part.tokens)).collect();
    let trimmed = if budget.trimmed.is_empty() { "nothing".to_owned() } else { budget.trimmed.join(", ") };
    format!(
        "{text}\n# budget\n\n{} of {} tokens: {}\ntrimmed: {trimmed}\n",
        budget.used_tokens,
        budget.budget_tokens,
        parts.join(", ")
    )
}

/// The section of the library's functions by name.
fn library(system: &str) -> Option<&str> {
    let from = system.find("## Library\n")?;
    let rest = &system[from..];
    Some(&rest[..rest.find("\n\n## Tools")?])
}

#[test]
fn the_library_by_name_is_as_its_file_says() {
    let case = json!({"task": "Anything.", "context": {}, "tools": []});
    let (prompt, file) = (prompt(&case), root().join("tests/cases/prompts/library.txt"));
    let actual = format!("{}\n", library(&prompt.system).unwrap());
    if std::env::var_os("LUAPLAN_TEST_BLESS").is_some() {
        std::fs::write(&file, &actual).unwrap();
    }
    assert_eq!(actual, std::fs::read_to_string(&file).unwrap());
}

#[test]
fn twenty_prompts_are_as_their_files_say() {
    let mut cases: Vec<PathBuf> = std::fs::read_dir(root().join("tests/cases/prompts"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .collect();
    cases.sort();
    assert_eq!(cases.len(), 20);
    let mut differ = Vec::new();
    for path in cases {
        let case: Json = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let prompt = prompt(&case);
        assert!(prompt.budget.used_tokens <= prompt.budget.budget_tokens, "{}", path.display());
        let expected = path.with_extension("md");
        let actual = shown(&prompt);
        if std::env::var_os("LUAPLAN_TEST_BLESS").is_some() {
            std::fs::write(&expected, &actual).unwrap();
        }
        if std::fs::read_to_string(&expected).unwrap_or_default() != actual {
            differ.push(name_of(&expected));
        }
    }
    assert!(
        differ.is_empty(),
        "{differ:?} differ; look at the change and run once with LUAPLAN_TEST_BLESS=1"
    );
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}
