//! A process that runs every plan of the cases and examples, and says what each did.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use luaplan::base::{CallOutcome, CallRequest, ErrorCode, LimitProfile, ToolFailure, Value};
use luaplan::bus::CallHandler;
use luaplan::catalog::{Catalog, builtin_manifests};
use luaplan::sandbox::{Interrupt, Step, Stopped, Vm, VmLimits, VmOptions};
use luaplan::testkit::MockTools;

use crate::say;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// The files `NAME.lua` of the cases, and the plans of the examples, by name.
fn plans() -> BTreeMap<String, PathBuf> {
    let mut plans = BTreeMap::new();
    for entry in std::fs::read_dir(root().join("tests/cases/determinism")).unwrap() {
        let path = entry.unwrap().path();
        plans.insert(path.file_stem().unwrap().to_string_lossy().into_owned(), path);
    }
    for entry in std::fs::read_dir(root().join("examples")).unwrap() {
        let folder = entry.unwrap().path();
        if folder.join("plan.lua").is_file() {
            let name = folder.file_name().unwrap().to_string_lossy().into_owned();
            plans.insert(format!("example {name}"), folder.join("plan.lua"));
        }
    }
    plans
}

fn answer(call: &CallRequest) -> CallOutcome {
    match call.tool.as_str() {
        "fail" => {
            Err(ToolFailure::new(ErrorCode::FetchFailed, "it broke").with_detail("status", 503).retryable())
        }
        _ => Ok(call.arguments.0.first().cloned().unwrap_or(Value::Null)),
    }
}

struct Answers {
    runtime: tokio::runtime::Runtime,
    mocks: Option<Arc<dyn CallHandler>>,
}

impl Answers {
    fn of(&self, calls: Vec<CallRequest>) -> Vec<CallOutcome> {
        match &self.mocks {
            Some(mocks) => self.runtime.block_on(mocks.answer(calls)).unwrap(),
            None => calls.iter().map(answer).collect(),
        }
    }
}

fn run(path: &Path, limits: VmLimits) -> (Stopped, String) {
    let catalog = Arc::new(Catalog::from_iter(builtin_manifests().unwrap()));
    let beside = |name: &str| path.with_file_name(name);
    let is_example = path.ends_with("plan.lua");
    let mocks = match (is_example, beside("mocks.json").is_file()) {
        (false, _) => None,
        (true, false) => Some(MockTools::default_mocks(&catalog).handler()),
        (true, true) => Some(MockTools::from_file(&beside("mocks.json"), &catalog).unwrap().handler()),
    };
    let context = match std::fs::read_to_string(beside("context.json")) {
        Ok(text) if is_example => Value::from_json_text(&text).unwrap(),
        _ => Value::from_json_text(r#"{"zeta":1,"alpha":{"b":null,"a":[1,2.5,"x"]},"list":[]}"#).unwrap(),
    };
    let mut tools: Vec<String> = catalog.names().map(str::to_owned).collect();
    tools.extend(["echo", "fail"].map(str::to_owned));
    let answers = Answers {
        runtime: tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap(),
        mocks,
    };
    let options = VmOptions { limits, tools, interrupt: Interrupt::default(), slice_instructions: 10_000 };
    let mut step = Vm::new(options).unwrap().start(&read(path), "plan.lua", &context);
    let mut printed = String::new();
    loop {
        step = match step {
            Step::Calls(mut pending) => {
                printed.push_str(&pending.take_printed());
                let outcomes = answers.of(pending.calls.clone());
                pending.answer(outcomes)
            }
            Step::Slice(mut paused) => {
                printed.push_str(&paused.take_printed());
                paused.resume()
            }
            Step::Wait(mut paused) => {
                printed.push_str(&paused.take_printed());
                paused.resume()
            }
            Step::Done(mut stopped) => {
                printed.push_str(&stopped.printed);
                stopped.printed.clear();
                return (stopped, printed);
            }
        };
    }
}

/// What one process has to say: for each plan a few lines.
fn report(turned_by: usize) -> String {
    let limits = VmLimits::from(&LimitProfile::Standard.limits());
    // Near enough that a plan gets there within a test.
    let tight = VmLimits { memory_bytes: 3 * 1024 * 1024, instructions: 20_000_000, ..limits };
    let plans: Vec<(String, PathBuf)> = plans().into_iter().collect();
    let mut parts = BTreeMap::new();
    // What ran before in a process must not matter either.
    for place in 0..plans.len() {
        let (name, path) = &plans[(place + turned_by) % plans.len()];
        let (stopped, printed) = run(path, if name.starts_with("memory") { tight } else { limits });
        let mut text = String::new();
        let end = match &stopped.result {
            Ok(value) => value.to_json().to_string(),
            Err(error) => format!("{} {}", error.code().as_str(), error.message()),
        };
        for line in printed.lines() {
            let _ = writeln!(text, "{name}: {line}");
        }
        let usage = stopped.usage;
        let _ = writeln!(
            text,
            "{name}: {} instructions, {} calls, ended with {end}",
            usage.instructions, usage.calls
        );
        parts.insert(name.clone(), text);
    }
    parts.into_values().collect()
}

/// Says what one process has to say; `turned_by` tells where in the order of the plans it begins.
pub(crate) fn child(turned_by: usize) {
    // The memory of a fresh process lies elsewhere each time; what is on the heap before differs too.
    let ballast: Vec<Vec<u8>> = (0..turned_by * 7).map(|size| vec![1; 16 + size * 24]).collect();
    say(report(turned_by).trim_end());
    drop(ballast);
}
