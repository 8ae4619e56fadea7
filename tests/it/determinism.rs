//! The same plan with the same answers does the same in every process: to the byte that it prints,
//! and to the instruction.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use luaplan::base::{CallOutcome, CallRequest, ErrorCode, LimitProfile, ToolFailure, Value};
use luaplan::bus::CallHandler;
use luaplan::catalog::{Catalog, builtin_manifests};
use luaplan::sandbox::{Interrupt, Step, Stopped, Vm, VmLimits, VmOptions};
use luaplan::testkit::MockTools;

const CHILD: &str = "LUAPLAN_TEST_DETERMINISM_CHILD";
const MARK: &str = "@@determinism ";
/// Fresh processes; `LUAPLAN_TEST_PROCESSES` sets another number.
const PROCESSES: usize = 100;
const AT_ONCE: usize = 4;

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
                paused.go_on()
            }
            Step::Wait(mut paused) => {
                printed.push_str(&paused.take_printed());
                paused.go_on()
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

/// Not a test of its own: what each process of the test below runs.
#[test]
fn child() {
    if let Some(turned_by) = std::env::var_os(CHILD).and_then(|text| text.to_str()?.parse().ok()) {
        // The memory of a fresh process lies elsewhere each time; what is on the heap before
        // differs too.
        let ballast: Vec<Vec<u8>> = (0..turned_by * 7).map(|size| vec![1; 16 + size * 24]).collect();
        let marked: String = report(turned_by).lines().map(|line| format!("\n{MARK}{line}")).collect();
        eprintln!("{marked}");
        drop(ballast);
    }
}

/// How far apart, in thousandths, the instructions may be at which the memory is used up: tables
/// from which keys are removed grow depending on the seed of their hashes and on addresses.
const MEMORY_SPREAD_PER_MILLE: u64 = 50;

fn is_same(line: &str, expected: &str) -> bool {
    let split = |line: &str| -> Option<(u64, String)> {
        let (name, rest) = line.split_once(": ")?;
        let (number, rest) = rest.split_once(" instructions, ")?;
        let is_cut = name.starts_with("memory_of_") && rest.contains("limit_memory");
        is_cut.then(|| Some((number.parse().ok()?, rest.to_owned())))?
    };
    match (split(line), split(expected)) {
        (Some((count, rest)), Some((expected, expected_rest))) => {
            rest == expected_rest && count.abs_diff(expected) * 1000 <= expected * MEMORY_SPREAD_PER_MILLE
        }
        _ => line == expected,
    }
}

fn one_process(turned_by: usize) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "determinism::child", "--nocapture", "--test-threads=1"])
        .env(CHILD, turned_by.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    command
}

#[test]
fn every_process_prints_the_same_and_counts_the_same() {
    let count = std::env::var_os("LUAPLAN_TEST_PROCESSES")
        .map_or(PROCESSES, |text| text.to_str().unwrap().parse().unwrap());
    let numbers: Vec<usize> = (0..count).collect();
    let mut first: Option<Vec<String>> = None;
    let mut differing = BTreeMap::new();
    for group in numbers.chunks(AT_ONCE) {
        let started: Vec<_> = group.iter().map(|number| one_process(*number).spawn().unwrap()).collect();
        for process in started {
            let output = process.wait_with_output().unwrap();
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let lines: Vec<String> =
                text.lines().filter_map(|line| line.strip_prefix(MARK)).map(str::to_owned).collect();
            assert!(output.status.success() && lines.len() > 100, "a process did not report: {text}");
            let first = first.get_or_insert_with(|| lines.clone());
            for (place, line) in lines.iter().enumerate() {
                let expected = first.get(place).map_or("(nothing)", String::as_str);
                if !is_same(line, expected) {
                    differing.entry(place).or_insert_with(|| format!("first: {expected}\nlater: {line}"));
                }
            }
            assert_eq!(lines.len(), first.len());
        }
    }
    let first = first.unwrap_or_default();
    for part in 1..=7 {
        let whole = format!("observe: part\t{part}\ttrue");
        assert!(
            first.iter().any(|line| line.starts_with(&whole)),
            "part {part} of observe.lua did not end well"
        );
    }
    let ends: Vec<&String> = first.iter().filter(|line| line.contains(" instructions, ")).collect();
    for kind in ["keys", "texts", "objects"] {
        let name = format!("memory_of_{kind}: ");
        assert!(
            ends.iter().any(|line| line.starts_with(&name) && line.contains("limit_memory")),
            "{ends:#?}"
        );
    }
    eprintln!(
        "{count} processes, {} lines each\n{}",
        first.len(),
        ends.iter().map(|line| &line[..line.len().min(160)]).collect::<Vec<_>>().join("\n")
    );
    let told: Vec<&String> = differing.values().take(10).collect();
    assert!(told.is_empty(), "{} lines differ, for example\n{told:#?}", differing.len());
}
