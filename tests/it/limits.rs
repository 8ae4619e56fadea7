//! Every limit of a run, hit through the whole application: its code, the limit, the value seen,
//! and a plan that cannot swallow it.

use std::sync::Arc;

use luaplan::base::{LimitName, Limits};
use luaplan::llm::{RecordedClient, RecordedReply};
use serde_json::Value as Json;

use crate::app_parts::Bench;

/// A limit, its setting, and the body of a function that goes over it.
const CASES: &[(LimitName, &str, &str)] = &[
    (LimitName::Instructions, "200000", "while true do end"),
    (LimitName::Memory, "8MiB", "local t = {} while true do t[#t + 1] = string.rep('x', 4096) .. #t end"),
    (LimitName::Wall, "300ms", "while true do end"),
    (LimitName::Depth, "100", "local function down(n) return 1 + down(n + 1) end down(1)"),
    (LimitName::Print, "1000", "while true do print(string.rep('x', 100)) end"),
    (LimitName::ToolCalls, "3", "while true do transform_data({}, 'x{{ 1 }}', 'text') end"),
    (
        LimitName::ResultBytes,
        "2000",
        "while true do local rows = query_db{table = 'users'} assert(#rows > 0) end",
    ),
    (
        LimitName::LlmTokens,
        "50",
        "local answer = call_llm{prompt = string.rep('many words ', 20), max_tokens = 10}",
    ),
];

fn limited(bench: &Bench, name: LimitName, text: &str) -> Limits {
    let mut limits = bench.limits();
    limits.set(name, text).unwrap();
    limits
}

fn assert_limit(name: LimitName, limits: &Limits, error: &luaplan::base::Error, plan: &str) {
    assert_eq!(error.code(), name.code(), "{error}\n{plan}");
    assert_eq!(error.limit().and_then(Json::as_u64), Some(limits.get(name)), "{error}");
    let observed = error.observed().and_then(Json::as_u64).unwrap();
    assert!(observed >= limits.get(name), "{error}");
}

fn model() -> Arc<RecordedClient> {
    let reply = || RecordedReply { matches: None, text: "words and words ".repeat(40) };
    Arc::new(RecordedClient::new("recorded", (0..8).map(|_| reply()).collect()))
}

#[tokio::test(flavor = "multi_thread")]
async fn each_limit_names_itself_and_both_numbers() {
    let settings = [("tools.transform_data.rate", "\"10000/s\""), ("rates.run", "\"10000/s\"")];
    let bench = Bench::with(&settings, Some(model())).await;
    for (name, text, body) in CASES {
        let limits = limited(&bench, *name, text);
        let plan = format!("function run(context) {body} return context end");
        let outcome = bench.run_with(&plan, None, limits.clone()).await;
        assert_limit(*name, &limits, &outcome.error().unwrap(), &plan);
        let events = bench.events(&outcome.run_id).await;
        assert!(events.contains(&"limit_hit"), "{name}: {events:?}");
        assert_eq!(events.last(), Some(&"run_failed"), "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_plan_can_swallow_a_limit() {
    let settings = [("tools.transform_data.rate", "\"10000/s\""), ("rates.run", "\"10000/s\"")];
    let bench = Bench::with(&settings, Some(model())).await;
    let swallowing = [
        "for i = 1, 100 do pcall(f) end return 'swallowed'",
        "for i = 1, 100 do xpcall(f, function() return 'handled' end) end return 'swallowed'",
        "for i = 1, 100 do coroutine.resume(coroutine.create(f)) end return 'swallowed'",
        "for i = 1, 100 do pcall(coroutine.wrap(f)) end return 'swallowed'",
        "pcall(parallel, {f, f}) return 'swallowed'",
        "pcall(retry, 3, f) return 'swallowed'",
    ];
    for (name, text, body) in CASES {
        for swallow in swallowing {
            let limits = limited(&bench, *name, text);
            let plan = format!("local function f() {body} end\nfunction run() {swallow} end");
            let outcome = bench.run_with(&plan, None, limits.clone()).await;
            let error = outcome.error().unwrap_or_else(|| panic!("{name} was swallowed by: {swallow}"));
            assert_limit(*name, &limits, &error, &plan);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn source_and_output_have_limits() {
    let bench = Bench::new().await;
    let limits = limited(&bench, LimitName::Source, "1KiB");
    let plan = format!("function run() return 1 end -- {}", "x".repeat(2000));
    let outcome = bench.run_with(&plan, None, limits.clone()).await;
    assert_limit(LimitName::Source, &limits, &outcome.error().unwrap(), &plan);

    let limits = limited(&bench, LimitName::Output, "1KiB");
    let plan = "function run() return {text = string.rep('x', 2000)} end";
    let outcome = bench.run_with(plan, None, limits.clone()).await;
    assert_limit(LimitName::Output, &limits, &outcome.error().unwrap(), plan);
}

#[tokio::test(flavor = "multi_thread")]
async fn money_for_models_has_a_limit() {
    // A recorded reply costs nothing, so the price is put in by a client of this test's own.
    let bench = Bench::with(&[], Some(Arc::new(crate::app_parts::PricedModel))).await;
    let limits = limited(&bench, LimitName::LlmCost, "0.001");
    let plan = "function run()\n-- luaplan: allow(plan_write_in_unbounded_loop) the limit ends it\nwhile true do local a = pcall(call_llm, 'hello') end end";
    let outcome = bench.run_with(plan, None, limits.clone()).await;
    assert_limit(LimitName::LlmCost, &limits, &outcome.error().unwrap(), plan);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_limit_the_next_run_is_clean() {
    let bench = Bench::new().await;
    let mut limits = bench.limits();
    limits.set(LimitName::Instructions, "10000").unwrap();
    let stopped =
        bench.run_with("leak = 'left behind' function run() while true do end end", None, limits).await;
    assert!(stopped.result.is_err());
    let next = bench.run("function run() return {seen = tostring(rawget(_G, 'leak'))} end").await;
    assert_eq!(next.result.unwrap().to_json(), serde_json::json!({"seen": "nil"}));
}

#[tokio::test(flavor = "multi_thread")]
async fn planning_counts_against_the_tokens_of_the_run() {
    let bench = Bench::with(&[], Some(model())).await;
    let limits = limited(&bench, LimitName::LlmTokens, "100");
    let work = luaplan::app::Work::Task("count the users".to_owned());
    let request = luaplan::app::RunSpec { limits: limits.clone(), ..bench.request(work) };
    let outcome = bench.app.run(request).await;
    assert_limit(LimitName::LlmTokens, &limits, &outcome.error().unwrap(), "a task");
    let events = bench.events(&outcome.run_id).await;
    assert_eq!(events.iter().filter(|name| **name == "limit_hit").count(), 1, "{events:?}");
    assert!(!events.contains(&"llm_request_sent"), "nothing is sent that cannot be paid for");
}

/// Work inside one C function is seen by no hook; the engine gives such a VM up, and the process
/// must not wait for it.
#[test]
fn a_plan_stuck_in_a_library_function_still_ends_at_its_wall_limit() {
    let folder = tempfile::tempdir().unwrap();
    let plan = "function run() return string.find(string.rep('a', 60), string.rep('a?', 60) .. string.rep('a', 60)) end";
    std::fs::write(folder.path().join("stuck.lua"), plan).unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_luaplan"))
        .args(["run", "stuck.lua", "--limit", "wall=300ms", "--json"])
        .current_dir(folder.path())
        .env_clear()
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(4), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Json = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["error"]["code"], "limit_wall");
    assert_eq!(report["error"]["limit"], 300);
}

/// The address space of the process is capped, so that what piles up outside the VM ends it.
#[cfg(target_os = "linux")]
#[test]
fn caught_messages_do_not_pile_up_outside_the_vm() {
    let folder = tempfile::tempdir().unwrap();
    let plan = "function run()
      local base, seen = string.rep('k', 8000000), 0
      for i = 1, 250 do
        local ok = pcall(json.encode, {}, {[base .. i] = 1})
        seen = seen + (ok and 0 or 1)
      end
      return {seen = seen}
    end";
    std::fs::write(folder.path().join("codes.lua"), plan).unwrap();
    let command = format!("ulimit -v 1500000; exec {} run codes.lua --json", env!("CARGO_BIN_EXE_luaplan"));
    let output = std::process::Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.path())
        .env_clear()
        .output()
        .unwrap();
    let report: Json = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|_| panic!("the process died: {}", String::from_utf8_lossy(&output.stderr)));
    assert_eq!(report["result"]["seen"], 250, "{report}");
}
