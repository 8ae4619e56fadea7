//! Every example and every correct case of the check: what happened had been announced.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use luaplan::base::{CallOutcome, CallRequest, ErrorCode, LimitProfile, ToolFailure, Value};
use luaplan::catalog::{Catalog, TargetKind, builtin_manifests, load_folder};
use luaplan::plan::check;
use luaplan::plan::preview::{Preview, PreviewOptions, preview};
use luaplan::sandbox::{Interrupt, Step, Vm, VmLimits, VmOptions};
use serde_json::{Value as Json, json};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

struct Case {
    name: String,
    source: String,
    context: Value,
    mocks: Vec<Json>,
}

fn json_file(path: &Path) -> Option<Json> {
    std::fs::read_to_string(path).ok().map(|text| serde_json::from_str(&text).unwrap())
}

fn examples() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(root("examples")).unwrap() {
        let folder = entry.unwrap().path();
        let Ok(source) = std::fs::read_to_string(folder.join("plan.lua")) else { continue };
        let context = json_file(&folder.join("context.json")).unwrap_or_else(|| json!({}));
        let mocks = json_file(&folder.join("mocks.json")).and_then(|mocks| mocks.as_array().cloned());
        cases.push(Case {
            name: folder.display().to_string(),
            source,
            context: Value::from_json(context).unwrap(),
            mocks: mocks.unwrap_or_default(),
        });
    }
    cases
}

fn correct_cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(root("tests/cases/check")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.display().to_string();
        if name.contains("/ok_") {
            let source = std::fs::read_to_string(&path).unwrap();
            let context = json!({"urls": ["https://a.example/1"], "items": [{"name": "x", "n": 2}], "name": "n", "n": 3});
            cases.push(Case { name, source, context: Value::from_json(context).unwrap(), mocks: Vec::new() });
        }
    }
    cases
}

/// What a tool answers: the first mock that fits, or something of a likely kind.
fn answer(call: &CallRequest, arguments: &Value, mocks: &[Json], turn: usize) -> CallOutcome {
    let fits = |mock: &&Json| {
        mock["tool"] == call.tool.as_str()
            && mock["when"].as_object().is_none_or(|when| {
                when.iter()
                    .all(|(name, wanted)| arguments.get(name).is_some_and(|seen| seen.to_json() == *wanted))
            })
    };
    if let Some(mock) = mocks.iter().find(fits) {
        return match mock.get("returns") {
            Some(value) => Ok(Value::from_json(value.clone()).unwrap()),
            None => Err(ToolFailure::new(ErrorCode::FetchFailed, "as mocked").retryable()),
        };
    }
    let value = match (call.tool.as_str(), turn % 5) {
        (_, 4) => return Err(ToolFailure::new(ErrorCode::FetchFailed, "now and then").retryable()),
        ("query_db", _) => {
            json!([{"id": 1, "name": "One", "url": "https://row.example/", "email": "row@example.com"}])
        }
        ("send_email", _) => json!({"delivered": true, "recipients": []}),
        _ => json!("a text"),
    };
    Ok(Value::from_json(value).unwrap())
}

/// What a call names, by the marks of its manifest.
fn named(catalog: &Catalog, tool: &str, arguments: &Value) -> Vec<(TargetKind, String)> {
    let mut found = Vec::new();
    for (parameter, kind) in &catalog.get(tool).unwrap().targets {
        let mut texts: Vec<String> = Vec::new();
        match arguments.get(parameter) {
            Some(Value::String(text)) => texts.push(text.clone()),
            Some(Value::Array(items)) => {
                texts.extend(items.iter().filter_map(Value::as_str).map(str::to_owned));
            }
            _ => {}
        }
        for text in texts {
            match kind {
                TargetKind::Url => {
                    let host = url::Url::parse(&text).ok().and_then(|url| url.host_str().map(str::to_owned));
                    found.extend(host.map(|host| (TargetKind::Host, host)));
                }
                TargetKind::Recipient => {
                    found.extend(text.split(',').map(|one| (TargetKind::Recipient, one.trim().to_owned())));
                }
                TargetKind::Sql => {
                    let words: Vec<&str> = text.split_whitespace().collect();
                    let tables = words.windows(2).filter(|pair| pair[0].eq_ignore_ascii_case("from"));
                    found.extend(tables.map(|pair| {
                        let name =
                            pair[1].trim_matches(|c: char| !c.is_alphanumeric() && c != '_').to_owned();
                        (TargetKind::Table, name)
                    }));
                }
                kind => found.push((*kind, text)),
            }
        }
    }
    found
}

/// Runs the case, and says how many calls it made.
fn compare(case: &Case, catalog: &Catalog, preview: &Preview) -> usize {
    let options = VmOptions {
        limits: VmLimits::from(&LimitProfile::Standard.limits()),
        tools: catalog.names().map(str::to_owned).collect(),
        interrupt: Interrupt::default(),
        slice_instructions: u64::MAX,
    };
    let mut step = Vm::new(options).unwrap().start(&case.source, "plan.lua", &case.context);
    let mut counts: BTreeMap<String, u64> = BTreeMap::new();
    let mut total = 0;
    loop {
        step = match step {
            Step::Calls(pending) => {
                let mut outcomes = Vec::new();
                for call in &pending.calls {
                    total += 1;
                    *counts.entry(call.tool.clone()).or_default() += 1;
                    let bound = catalog.get(&call.tool).unwrap().bind(&call.arguments);
                    if let Ok(arguments) = &bound {
                        for (kind, what) in named(catalog, &call.tool, arguments) {
                            assert!(
                                preview.announces(&call.tool, kind, &what),
                                "{}: {} reached the {kind:?} {what:?}",
                                case.name,
                                call.tool
                            );
                        }
                    }
                    outcomes.push(bound.and_then(|bound| answer(call, &bound, &case.mocks, total)));
                }
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(paused) => paused.resume(),
            Step::Done(_) => break,
        };
    }
    for (tool, count) in counts {
        let bound = preview.calls_max_at(&tool, None);
        assert!(bound.is_none_or(|bound| count <= bound), "{}: {tool}: {count} > {bound:?}", case.name);
    }
    assert!(total as u64 <= preview.calls_max, "{}", case.name);
    total
}

#[test]
fn what_examples_and_correct_cases_do_was_announced() {
    let builtin: Catalog = builtin_manifests().unwrap().into_iter().collect();
    let of_cases: Catalog = load_folder(&root("tests/cases/check/tools")).unwrap().into_iter().collect();
    let always = BTreeMap::new();
    let mut made = 0;
    for (case, catalog) in examples()
        .into_iter()
        .map(|case| (case, &builtin))
        .chain(correct_cases().into_iter().map(|case| (case, &of_cases)))
    {
        let limits = LimitProfile::Standard.limits();
        let report = check(&case.source, "plan", catalog, &limits);
        let plan = report.plan.unwrap_or_else(|| panic!("{}: {:?}", case.name, report.findings));
        let options = PreviewOptions {
            tool_calls_max: limits.tool_calls,
            context: Some(&case.context),
            always: &always,
            agents: &[],
        };
        let found = preview(&plan, catalog, options);
        assert!(!found.gave_up, "{}", case.name);
        made += compare(&case, catalog, &found);
    }
    assert!(made > 40, "only {made} calls were made");
}
