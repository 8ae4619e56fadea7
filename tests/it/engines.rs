//! Every example ends the same on both engines: result, codes of errors, and the calls in order.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use luaplan::base::{LimitProfile, Value};
use luaplan::bus::CallHandler;
use luaplan::catalog::{Catalog, builtin_manifests};
use luaplan::sandbox::{Interrupt, Machine, PiccoloVm, Step, Vm, VmLimits, VmOptions};
use luaplan::testkit::MockTools;

/// What is compared, and what it cost.
#[derive(Debug, PartialEq)]
struct Seen {
    end: Result<String, String>,
    printed: String,
    calls: Vec<String>,
}

fn plans() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut plans: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().join("plan.lua"))
        .filter(|plan| plan.exists())
        .collect();
    plans.sort();
    plans
}

fn handler(plan: &Path, catalog: &Arc<Catalog>) -> Arc<dyn CallHandler> {
    let mocks = plan.with_file_name("mocks.json");
    let tools = if mocks.exists() {
        MockTools::from_file(&mocks, catalog).unwrap()
    } else {
        MockTools::default_mocks(catalog)
    };
    tools.handler()
}

async fn run<M: Machine>(plan: &Path) -> (Seen, u64) {
    let catalog = Arc::new(Catalog::from_iter(builtin_manifests().unwrap()));
    let handler = handler(plan, &catalog);
    let context =
        std::fs::read_to_string(plan.with_file_name("context.json")).unwrap_or_else(|_| "{}".into());
    let options = VmOptions {
        limits: VmLimits::from(&LimitProfile::Standard.limits()),
        tools: catalog.names().map(str::to_owned).collect(),
        interrupt: Interrupt::default(),
        slice_instructions: 1_000_000,
    };
    let source = std::fs::read_to_string(plan).unwrap();
    let context = Value::from_json_text(&context).unwrap();
    let mut step = M::new(options).unwrap().start(&source, "plan.lua", &context);
    let (mut printed, mut calls) = (String::new(), Vec::new());
    loop {
        step = match step {
            Step::Calls(mut pending) => {
                printed.push_str(&pending.take_printed());
                for call in &pending.calls {
                    calls.push(format!("{} {} {:?}", call.id, call.tool, call.arguments.0));
                }
                let outcomes = handler.answer(pending.calls.clone()).await.unwrap();
                pending.answer(outcomes)
            }
            Step::Slice(paused) => paused.resume(),
            Step::Wait(paused) => paused.resume(),
            Step::Done(stopped) => {
                printed.push_str(&stopped.printed);
                let end = stopped.result.map(|value| value.to_json().to_string());
                let end = end.map_err(|error| error.code().to_string());
                return (Seen { end, printed, calls }, stopped.usage.instructions);
            }
        }
    }
}

#[tokio::test]
async fn every_example_ends_the_same_on_both_engines() {
    let plans = plans();
    assert!(plans.len() >= 10, "the examples are gone");
    for plan in plans {
        let (first, _) = run::<Vm>(&plan).await;
        let (second, _) = run::<PiccoloVm>(&plan).await;
        assert_eq!(first, second, "{}", plan.display());
    }
}

#[tokio::test]
async fn an_example_costs_the_second_engine_the_same_every_time() {
    for plan in plans() {
        let first = run::<PiccoloVm>(&plan).await;
        assert!(first.0.end.is_ok(), "{}: {first:?}", plan.display());
        for _ in 1..20 {
            assert_eq!(run::<PiccoloVm>(&plan).await, first, "{}", plan.display());
        }
    }
}

#[test]
fn the_command_line_names_what_the_second_engine_lacks() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plan.lua");
    std::fs::write(&plan, "function run()\n  local held <close> = nil\n  return 1\nend\n").unwrap();
    let check = |set: &str| {
        let mut command = assert_cmd::Command::cargo_bin("luaplan").unwrap();
        command.current_dir(folder.path()).arg("check").arg(&plan).args(["--json", "--set", set]).assert()
    };
    check("sandbox.engine=\"mlua\"").success();
    let refused = check("sandbox.engine=\"piccolo\"").code(3);
    let said = String::from_utf8_lossy(&refused.get_output().stdout).into_owned();
    assert!(said.contains("engine_unsupported") && said.contains("\"line\": 2"), "{said}");

    let many = "t[1] = function() end ".repeat(257);
    std::fs::write(&plan, format!("local t = {{}}\nfunction run()\n{many}\nreturn 1 end\n")).unwrap();
    check("sandbox.engine=\"mlua\"").success();
    let refused = check("sandbox.engine=\"piccolo\"").code(3);
    let said = String::from_utf8_lossy(&refused.get_output().stdout).into_owned();
    assert!(said.contains("engine_unsupported") && said.contains("too many inner functions"), "{said}");
}
